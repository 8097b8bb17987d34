import CloudSyncCore

/// No state contradicts itself, and what is stored comes to the state that the session was in.
final class StateChecker: SimulationChecker {
  let rule = "no state contradicts itself, and what is stored comes to the same state"

  private var events = 0

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .event(let record, _, let state):
      events += 1
      guard let broken = state.brokenInvariant(events % 64 == 0 ? .all : .cheap) else { break }
      return "event \(record.sequence) on device \(device), \(record.event.name): \(broken)"
    case .killed(let archive?, let state?, let isTorn):
      do throws(CodedError) {
        let stored = try SyncArchive(archive)
        // What is torn may be gone altogether.
        if !isTorn, stored.tornBytes > 0 {
          return "device \(device) stored \(stored.tornBytes) torn bytes"
        }
        if stored.state != state {
          return "device \(device) stored event \(stored.state.eventCount), in another state than"
            + " the session was in at event \(state.eventCount)"
        }
      } catch { return "what device \(device) stored cannot be read: \(error)" }
    default: break
    }
    return nil
  }

  func finish(_ end: SimulationEnd) -> String? {
    for (device, host) in end.devices.enumerated() {
      guard let state = host.state, let broken = state.brokenInvariant(.all) else { continue }
      return "at the end of device \(device): \(broken)"
    }
    return nil
  }
}
