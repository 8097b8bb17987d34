import CloudSyncCore

/// A session has one request in flight, names each attempt once, and sends one whose response was lost
/// again as it was, before any other modification; or parts of it, when that has not helped.
///
/// One that hands deletions back whose response was lost sends the rest; one that tries parked records again tries them
/// once, and lets others go first after that.
final class FlightChecker: SimulationChecker {
  let rule = "nothing is in flight twice"

  private struct Sent {
    var attempt: Attempt
    var token: WriteToken
    var operation: ModifyOperation
    /// What goes before all other records after the response was lost.
    var owed: Set<String>
    /// Whether it has parked records that are tried once, and are parked again if nothing is said of them.
    var isProbe: Bool
  }

  private struct Host {
    var session: CloudSyncSession?
    var inFlight: Attempt?
    var last = Attempt(epoch: 0, number: 0)
    var sent: Sent?
    /// What was sent last before the app was killed, until the session that is back sends something.
    var sentBefore: ModifyOperation?
    /// Whether the response to what was sent last was lost.
    var isLost = false
    /// How many answers to modifications were lost since one was heard.
    var losses = 0
    /// How many of them although the cloud had answered something else since the last one.
    var provenLosses = 0
    var hasAnswered = false
    /// The records of a request that is sent in parts because it is never answered.
    var parted: Set<String> = []
    /// Whether the session hands deletions back instead of repeating them.
    var handsBack = false
    /// Whether the app has cancelled something that has not ended.
    var isCancelling = false
  }

  private var hosts: [Host]

  init(devices: Int) { hosts = Array(repeating: Host(), count: devices) }

  func observe(_ event: SimulationEvent, on device: Int, at time: Int64) -> String? {
    switch event {
    case .called(let work, let context): return check(work: work, context: context, device: device)
    case .cancelled(let attempt):
      if hosts[device].inFlight == attempt { hosts[device].inFlight = nil }
      if attempt == hosts[device].sent?.attempt { lose(device: device) }
    case .answered(let work, let context, let result):
      guard hosts[device].inFlight == context.attempt else { break }
      hosts[device].inFlight = nil
      if case .success = result { hosts[device].hasAnswered = true }
      if case .modify = work {
        heard(result: result, device: device)
      } else if case .failure(let error) = result, Self.losesZone(by: error) {
        // What was sent to a zone that is gone was sent for nothing.
        hosts[device].isLost = false
      }
    case .event(_, let input, let state): noteCancellation(input, state, device: device)
    case .copied:
      // Sessions are counted in the file that has taken the place of its own.
      hosts[device].last = Attempt(epoch: 0, number: 0)
    case .killed:
      end(device: device)
      hosts[device].session = nil
    case .launched(let session):
      // One that takes another's place in the same process is in the same position.
      end(device: device)
      hosts[device].session = session
      hosts[device].handsBack = session.state.configuration.refusedItems == .handBack
    default: break
    }
    return nil
  }

  /// Forgets what is in flight: whether it was sent is known when the session is back.
  private func end(device: Int) {
    hosts[device].inFlight = nil
    if let sent = hosts[device].sent { hosts[device].sentBefore = sent.operation }
    hosts[device].sent = nil
    hosts[device].isLost = false
  }

  private func check(work: SyncWork, context: RequestContext, device: Int) -> String? {
    let attempt = context.attempt
    if let other = hosts[device].inFlight {
      return "device \(device) sent \(attempt) while \(other) was in flight"
    }
    // A kill may undo the last attempt, so its number may come again, once; a session that goes on from an
    // essence counts its epoch's attempts anew.
    let last = hosts[device].last
    if (attempt.epoch, attempt.number) < (last.epoch, last.number), attempt.number != last.number {
      return "device \(device) sent \(attempt) after attempt \(last)"
    }
    hosts[device].inFlight = attempt
    hosts[device].last = attempt
    guard case .modify(let operation) = work else { return nil }
    defer {
      hosts[device].sent = Sent(
        attempt: attempt,
        token: context.writeToken,
        operation: operation,
        owed: operation.recordNames,
        isProbe: hosts[device].session?.state.modify.isProbing == true
      )
    }
    guard let sent = hosts[device].sent else {
      // The loss that was one too many may have been the last before the kill: this is the first part.
      if let before = hosts[device].sentBefore {
        _ = isPart(operation: operation, of: before, device: device)
      }
      hosts[device].sentBefore = nil
      return nil
    }
    if hosts[device].isLost, sent.token != context.writeToken,
      !isRest(operation: operation, of: sent),
      !isPart(operation: operation, of: sent.operation, device: device)
    {
      return "device \(device) sent other records before the request whose response was lost"
    }
    if sent.token != context.writeToken {
      hosts[device].isLost = false
      hosts[device].provenLosses = 0
    }
    if hosts[device].provenLosses > 2 * SyncConfiguration().lostResponseBudget {
      return "device \(device) sends a request again and again that is never answered"
    }
    guard sent.token == context.writeToken else { return nil }
    if sent.operation.records == operation.records,
      sent.operation.recordIDsToDelete == operation.recordIDsToDelete
    {
      return nil
    }
    return "device \(device) sent another request with the write token \(sent.token)"
  }

  /// Whether a request is what is left of another whose deletions were handed back.
  private func isRest(operation: ModifyOperation, of sent: Sent) -> Bool {
    sent.owed != sent.operation.recordNames && sent.owed == operation.recordNames
  }

  /// Whether a request may go before another whose response was lost: as a part of one that is never
  /// answered, or in place of a single record that is parked because of that.
  private func isPart(
    operation: ModifyOperation,
    of sent: ModifyOperation,
    device: Int
  ) -> Bool {
    let names = operation.recordNames
    if hosts[device].parted.isSuperset(of: sent.recordNames) {
      if !hosts[device].parted.isSuperset(of: names) { hosts[device].parted = [] }
      return true
    }
    guard hosts[device].losses >= SyncConfiguration().lostResponseBudget,
      sent.itemCount == 1 || names.isStrictSubset(of: sent.recordNames)
    else { return false }
    hosts[device].parted = sent.recordNames
    return true
  }

  /// Takes that what was cancelled is not sent again; what is left of its request goes before all else.
  private func noteCancellation(_ input: SyncEvent?, _ state: SyncState, device: Int) {
    if case .cancel? = input { hosts[device].isCancelling = true }
    guard hosts[device].isCancelling else { return }
    let rest = state.modify.batch.prefix(state.modify.frozen).map(\.recordID.name)
    hosts[device].sent?.owed.formIntersection(rest)
    if rest.isEmpty { hosts[device].isLost = false }
    hosts[device].isCancelling = !state.modify.cancelling.isEmpty
  }

  private func lose(device: Int) {
    if hosts[device].handsBack, let sent = hosts[device].sent {
      hosts[device].sent?.owed.subtract(sent.operation.recordIDsToDelete.map(\.name))
    }
    hosts[device].isLost = hosts[device].sent.map { !$0.owed.isEmpty && !$0.isProbe } ?? false
    hosts[device].losses += 1
    if hosts[device].hasAnswered { hosts[device].provenLosses += 1 }
    hosts[device].hasAnswered = false
  }

  private func heard(result: Result<SyncWork.Result, SyncError>, device: Int) {
    guard case .failure(let error) = result else {
      hosts[device].isLost = false
      hosts[device].losses = 0
      hosts[device].provenLosses = 0
      return
    }
    switch error.code {
    case _ where error.code.mayHideResponse: lose(device: device)
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy:
      break
    default: hosts[device].isLost = false
    }
  }

  private static func losesZone(by error: SyncError) -> Bool {
    error.code == .zoneNotFound || error.code == .userDeletedZone
  }
}

extension ModifyOperation {
  fileprivate var recordNames: Set<String> {
    Set(records.map(\.recordID.name) + recordIDsToDelete.map(\.name))
  }
}
