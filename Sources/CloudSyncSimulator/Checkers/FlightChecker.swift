import CloudSyncCore

/// A session has one request in flight, names each attempt once, and sends one whose answer was lost
/// again as it was, before any other modification.
final class FlightChecker: SimulationChecker {
  let rule = "nothing is in flight twice"

  private struct Sent {
    var attempt: Attempt
    var token: WriteToken
    var operation: ModifyOperation
  }

  private struct Host {
    var inFlight: Attempt?
    var lastNumber: UInt64 = 0
    var sent: Sent?
    /// Whether the answer to what was sent last was lost.
    var isLost = false
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .called(let work, let context): return check(work: work, context: context, device: device)
    case .cancelled(let attempt):
      if hosts[device].inFlight == attempt { hosts[device].inFlight = nil }
      if attempt == hosts[device].sent?.attempt { hosts[device].isLost = true }
    case .answered(let work, let context, let result):
      guard hosts[device].inFlight == context.attempt else { break }
      hosts[device].inFlight = nil
      if case .modify = work {
        hosts[device].isLost = Self.isLost(result: result, wasLost: hosts[device].isLost)
      }
    case .killed, .launched:
      // Whether it was sent is known when the session is back.
      // One that takes another's place in the same process is in the same position.
      hosts[device].inFlight = nil
      hosts[device].sent = nil
      hosts[device].isLost = false
    default: break
    }
    return nil
  }

  private func check(work: SyncWork, context: RequestContext, device: Int) -> String? {
    let attempt = context.attempt
    if let other = hosts[device].inFlight {
      return "device \(device) sent \(attempt) while \(other) was in flight"
    }
    // A kill may undo the last attempt, so its number may come again, once.
    if attempt.number < hosts[device].lastNumber {
      return "device \(device) sent \(attempt) after attempt \(hosts[device].lastNumber)"
    }
    hosts[device].inFlight = attempt
    hosts[device].lastNumber = attempt.number
    guard case .modify(let operation) = work else { return nil }
    defer {
      hosts[device].sent = Sent(attempt: attempt, token: context.writeToken, operation: operation)
    }
    guard let sent = hosts[device].sent else { return nil }
    if hosts[device].isLost, sent.token != context.writeToken {
      return "device \(device) sent other records before the request whose answer was lost"
    }
    guard sent.token == context.writeToken else { return nil }
    if sent.operation.records == operation.records,
      sent.operation.recordIDsToDelete == operation.recordIDsToDelete
    {
      return nil
    }
    return "device \(device) sent another request with the write token \(sent.token)"
  }

  /// Whether what was sent may have been carried out without the session knowing.
  private static func isLost(
    result: Result<SyncWork.Result, SyncError>,
    wasLost: Bool
  ) -> Bool {
    guard case .failure(let error) = result else { return false }
    switch error.code {
    case .serverResponseLost, .timedOut: return true
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy:
      return wasLost
    default: return false
    }
  }
}
