import CloudSyncCore

/// No request leaves a device before the time that the cloud asked it to wait for.
final class GateChecker: SimulationChecker {
  let rule = "nothing is sent before retryAfter"

  private struct Seat {
    var until: Int64 = 0
    /// What it was before the event that changed it last, in case that event is undone.
    var before: Int64 = 0
    var setBy: UInt64 = 0
    var lastEvent: UInt64 = 0
  }

  private var seats: [Seat]

  init(devices: Int) { seats = Array(repeating: Seat(), count: devices) }

  func take(_ moment: SimulationMoment, on device: Int, at time: Int64) -> String? {
    switch moment {
    case .event(let record, let input, _):
      seats[device].lastEvent = record.sequence
      guard let wait = input.flatMap(Self.wait) else { break }
      seats[device].before = seats[device].until
      seats[device].until = max(seats[device].until, time + wait)
      seats[device].setBy = record.sequence
    case .killed(_, _, let isTorn):
      if isTorn, seats[device].setBy == seats[device].lastEvent {
        seats[device].until = seats[device].before
      }
    case .clockSet: seats[device].until = 0
    case .called(let work, _):
      guard time < seats[device].until else { break }
      let early = Duration.nanoseconds(seats[device].until - time)
      return "device \(device) sent a \(work.mode) \(early) before it was asked to"
    default: break
    }
    return nil
  }

  private static func wait(_ event: SyncEvent) -> Int64? {
    switch event {
    case .workFailure(_, let error):
      longest(error.retryAfterNanoseconds, error.itemErrors)
    case .workSuccess(_, .modify(let response)): longest(nil, response.failures)
    default: nil
    }
  }

  private static func longest(_ wait: Int64?, _ failures: [ItemFailure]) -> Int64? {
    failures.reduce(wait) { longest, failure in
      guard let wait = failure.error.retryAfterNanoseconds else { return longest }
      return max(longest ?? 0, wait)
    }
  }
}
