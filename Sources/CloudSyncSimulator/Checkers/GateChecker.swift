import CloudSyncCore

/// No request leaves a device before the time that the cloud asked it to wait for.
final class GateChecker: SimulationChecker {
  let rule = "nothing is sent before retryAfter"

  private struct Host {
    var until: Int64 = 0
    /// What it was before the event that changed it last, in case that event is undone.
    var before: Int64 = 0
    var setBy: UInt64 = 0
    var lastEvent: UInt64 = 0
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .event(let record, let input, _):
      hosts[device].lastEvent = record.sequence
      guard let wait = input.flatMap(Self.wait) else { break }
      hosts[device].before = hosts[device].until
      hosts[device].until = max(hosts[device].until, time + wait)
      hosts[device].setBy = record.sequence
    case .killed(let archive, _, let isTorn):
      // Who keeps no journal stores what the session has learnt just after the event.
      if isTorn || archive == nil, hosts[device].setBy == hosts[device].lastEvent {
        hosts[device].until = hosts[device].before
      }
    case .clockSet: hosts[device].until = 0
    case .called(let work, _):
      guard time < hosts[device].until else { break }
      let early = Duration.nanoseconds(hosts[device].until - time)
      return "device \(device) sent a \(work.mode) \(early) before it was asked to"
    default: break
    }
    return nil
  }

  private static func wait(event: SyncEvent) -> Int64? {
    switch event {
    case .workFailure(_, let error):
      longest(wait: error.retryAfterNanoseconds, failures: error.itemErrors)
    case .workSuccess(_, .modify(let response)): longest(wait: nil, failures: response.failures)
    default: nil
    }
  }

  private static func longest(wait: Int64?, failures: [ItemFailure]) -> Int64? {
    failures.reduce(wait) { longest, failure in
      guard let wait = failure.error.retryAfterNanoseconds else { return longest }
      return max(longest ?? 0, wait)
    }
  }
}
