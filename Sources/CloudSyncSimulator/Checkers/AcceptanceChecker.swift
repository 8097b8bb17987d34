import CloudSyncCore

/// Where an app wants to know that a modification is taken, it is told once: after all that was announced before the
/// session took it, and before all that is announced after that.
final class AcceptanceChecker: SimulationChecker {
  let rule = "a modification is accepted once, in order with pages and completions"

  private struct Host {
    /// The number of the next announcement when an operation was taken, by its number.
    var taken: [UInt64: UInt64] = [:]
    var accepted: Set<UInt64> = []
    /// The number of the next announcement.
    var next: UInt64 = 0
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .launched(let session):
      hosts[device] = Host(next: session.state.notifications.first)
    case .event(let record, _, let state):
      guard case .doWork(.modify(let operation)) = record.event else { break }
      hosts[device].taken[operation.id.number] = state.notifications.end
    case .completed, .page, .parked, .failed: hosts[device].next += 1
    case .accepted(let operation): return check(operation, device: device)
    default: break
    }
    return nil
  }

  private func check(_ operation: ModifyOperation, device: Int) -> String? {
    let number = operation.id.number
    guard let end = hosts[device].taken[number] else {
      return "device \(device) was told that \(operation.id) is accepted, it was not taken"
    }
    guard hosts[device].accepted.insert(number).inserted else {
      return "device \(device) was told twice that \(operation.id) is accepted"
    }
    guard hosts[device].next != end else { return nil }
    return "device \(device) was told that \(operation.id) is accepted amid other announcements:"
      + " \(hosts[device].next) instead of \(end) were next"
  }
}
