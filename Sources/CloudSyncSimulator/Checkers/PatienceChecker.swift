import CloudSyncCore

/// A record that cannot be saved holds back the completions of others only for so long.
final class PatienceChecker: SimulationChecker {
  let rule = "one record never blocks the others"

  /// How many modify requests the cloud may answer while nothing becomes of the oldest operation, if nothing else
  /// waits.
  ///
  /// Pages of a fetch do not count: they take their turn, and a long feed has many of them.
  private static let limit = 50
  /// How many more it may answer for each record that waits: one that meets a conflict goes behind the others,
  /// and a cloud that finds requests too large may take them one by one.
  private static let limitForEach = 2

  private struct Host {
    /// The number of the oldest operation.
    var oldest: UInt64?
    /// How many of its records are not settled.
    var left = 0
    /// How many records that were parked go before it.
    var returning = 0
    var answers = 0
    /// The most records that have waited at once since it is the oldest and nothing became of it.
    var waiting = 0

    func isAsFar(as other: Host) -> Bool {
      oldest == other.oldest && left == other.left && returning == other.returning
    }
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .event(_, _, let state):
      let open = state.modify.open.first
      let oldest = open?.number ?? state.modify.queue.first?.id.number
      let present = Host(
        oldest: oldest,
        left: open?.left ?? 0,
        returning: state.parked.returning.count
      )
      if !hosts[device].isAsFar(as: present) { hosts[device] = present }
      let waiting = state.modify.queuedItems + state.modify.batch.count
      hosts[device].waiting = max(hosts[device].waiting, waiting)
    case .answered(let work, _, let result):
      // A response that tells of single items is one, too.
      if case .failure(let error) = result, error.code != .partialFailure { return nil }
      guard let oldest = hosts[device].oldest, work.mode == .modify else { return nil }
      hosts[device].answers += 1
      if hosts[device].answers > Self.limit + Self.limitForEach * hosts[device].waiting {
        return "device \(device) waits for operation \(oldest) while the cloud answered"
          + " \(hosts[device].answers) modify requests"
      }
    case .launched, .zoneLost, .storeRestored: hosts[device] = Host()
    default: break
    }
    return nil
  }
}
