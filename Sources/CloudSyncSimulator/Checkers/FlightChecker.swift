import CloudSyncCore

/// A session has one request in flight, names each attempt once, and sends one whose answer was lost
/// again as it was, before any other modification; or parts of it, when that has not helped.
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
    /// How often in a row the answer to what was sent last was lost.
    var losses = 0
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .called(let work, let context): return check(work: work, context: context, device: device)
    case .cancelled(let attempt):
      if hosts[device].inFlight == attempt { hosts[device].inFlight = nil }
      if attempt == hosts[device].sent?.attempt { hosts[device].losses += 1 }
    case .answered(let work, let context, let result):
      guard hosts[device].inFlight == context.attempt else { break }
      hosts[device].inFlight = nil
      if case .modify = work {
        hosts[device].losses = Self.losses(result: result, before: hosts[device].losses)
      } else if case .failure(let error) = result, Self.losesZone(error) {
        // What was sent to a zone that is gone was sent for nothing.
        hosts[device].losses = 0
      }
    case .killed, .launched:
      // Whether it was sent is known when the session is back.
      // One that takes another's place in the same process is in the same position.
      hosts[device].inFlight = nil
      hosts[device].sent = nil
      hosts[device].losses = 0
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
    if hosts[device].losses > 0, sent.token != context.writeToken {
      let isPart = operation.recordNames.isStrictSubset(of: sent.operation.recordNames)
      if isPart, hosts[device].losses >= SyncConfiguration().lostAnswerBudget { return nil }
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

  /// How often in a row what was sent may have been carried out without the session knowing.
  private static func losses(
    result: Result<SyncWork.Result, SyncError>,
    before: Int
  ) -> Int {
    guard case .failure(let error) = result else { return 0 }
    switch error.code {
    case .serverResponseLost, .timedOut: return before + 1
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy:
      return before
    default: return 0
    }
  }

  private static func losesZone(_ error: SyncError) -> Bool {
    error.code == .zoneNotFound || error.code == .userDeletedZone
  }
}

extension ModifyOperation {
  fileprivate var recordNames: Set<String> {
    Set(records.map(\.recordID.name) + recordIDsToDelete.map(\.name))
  }
}
