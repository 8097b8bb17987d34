import CloudSyncCore

/// No request leaves a device before the time that the cloud asked it, or another session of its app, to wait for.
final class GateChecker: SimulationChecker {
  let rule = "nothing is sent before retryAfter"

  private struct Host {
    var until: Int64 = 0
    /// What it was before the event that changed it last, in case that event is undone.
    var before: Int64 = 0
    var setBy: UInt64 = 0
    var lastEvent: UInt64 = 0
    /// Until when all sessions of the process wait.
    var shared: Int64 = 0
    /// When one of them was asked to; at that very time another may be on its way already.
    var sharedSince: Int64 = 0

    mutating func share(_ wait: Int64, at time: Int64) {
      guard time + wait > shared else { return }
      (shared, sharedSince) = (time + wait, time)
    }
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .event(let record, let input, _):
      hosts[device].lastEvent = record.sequence
      guard let wait = input.flatMap(Self.wait) else { break }
      hosts[device].share(wait, at: time)
      hosts[device].before = hosts[device].until
      hosts[device].until = max(hosts[device].until, time + wait)
      hosts[device].setBy = record.sequence
    case .killed(let archive, _, let isTorn):
      // Who keeps no journal stores what the session has learnt just after the event.
      if isTorn || archive == nil, hosts[device].setBy == hosts[device].lastEvent {
        hosts[device].until = hosts[device].before
      }
      // What only another session was told, which stores nothing, is forgotten.
      (hosts[device].shared, hosts[device].sharedSince) = (hosts[device].until, time)
    // What a session was asked is in its file, in whose place another one comes.
    case .clockSet, .copied: (hosts[device].until, hosts[device].shared) = (0, 0)
    case .siblingAsked(let wait): hosts[device].share(wait.clampedNanoseconds, at: time)
    case .siblingCalled(let work):
      guard time < hosts[device].shared, time > hosts[device].sharedSince else { break }
      let early = Duration.nanoseconds(hosts[device].shared - time)
      return "another session of device \(device) sent a \(work.mode) \(early) before it was to"
    case .called(let work, _):
      let isShared = time < hosts[device].shared && time > hosts[device].sharedSince
      let end = isShared ? max(hosts[device].until, hosts[device].shared) : hosts[device].until
      guard time < end else { break }
      let early = Duration.nanoseconds(end - time)
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
    case .gateClosed(let wait): wait.serverNanoseconds
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
