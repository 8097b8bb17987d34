import CloudSyncCore

/// The quiet phase ends within its bound.
final class LivenessChecker: SimulationChecker {
  let rule = "when nothing goes wrong any more, everything comes to rest in time"

  func finish(_ end: SimulationEnd) -> String? {
    guard !end.isQuiet else { return nil }
    let pendingReason = end.devices.enumerated()
      .compactMap { device, host in host.pendingReason.map { "device \(device): \($0)" } }
    return pendingReason.isEmpty
      ? "the devices go on and on" : pendingReason.joined(separator: "; ")
  }
}

/// A session stops over errors that do not pass, and over no other.
final class HaltChecker: SimulationChecker {
  let rule = "a session halts only over an error that does not pass"

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    guard case .event(_, _, let state) = event, let error = state.haltReason?.error,
      error.code.isCloudCode
    else { return nil }
    let isFinal = OperationMode.allCases.contains { mode in
      ErrorTable.disposition(of: error.code, for: mode, in: .request) == .halt
    }
    return isFinal ? nil : "device \(device) halted over \(error)"
  }
}

/// In the end queues and shelves are empty.
final class QueueChecker: SimulationChecker {
  let rule = "in the end nothing is queued, parked or halted"

  func finish(_ end: SimulationEnd) -> String? {
    for (device, host) in end.devices.enumerated() {
      guard let state = host.state else { return "device \(device) does not run" }
      if let reason = state.haltReason { return "device \(device) is halted: \(reason.error)" }
      if state.hasWorkQueued { return "device \(device) has work in its queues" }
      if let parked = state.parkedRecords.first {
        return "device \(device) has parked \(parked.recordID.name): \(parked.error)"
      }
    }
    return nil
  }
}

/// In the end every device shows what the cloud has.
final class ConvergenceChecker: SimulationChecker {
  let rule = "in the end all devices equal the cloud"

  func finish(_ end: SimulationEnd) -> String? {
    for (device, host) in end.devices.enumerated() where host.contents != end.cloud {
      let theirs = Dictionary(end.cloud.map { ($0.name, $0) }) { first, _ in first }
      for record in host.contents {
        guard let other = theirs[record.name] else {
          return "device \(device) shows \(record), the cloud has no such record"
        }
        if other != record { return "device \(device) shows \(record), the cloud has \(other)" }
      }
      let mine = Set(host.contents.map(\.name))
      let missing = end.cloud.first { !mine.contains($0.name) }
      return "device \(device) does not show \(missing.map { "\($0)" } ?? "everything")"
    }
    return nil
  }
}
