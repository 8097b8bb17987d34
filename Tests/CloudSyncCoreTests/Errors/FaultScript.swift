import CloudSyncCore
import CloudSyncTestSupport

/// Answers of a scripted handler that are wrong once, or for ever, until the script is repaired.
final class FaultScript: Sendable {
  /// In what form an error reaches the session.
  enum Shape: String, Sendable, CaseIterable {
    /// As the response to the whole request.
    case whole
    /// As the only item's error inside a partial failure.
    case alone
    /// As one item's error in an atomic request whose other items are refused for it.
    case amongRefused
    /// As one item's error beside others that are done.
    case amongDone
  }

  /// What is answered wrongly, and how.
  struct Fault: Sendable, CustomStringConvertible {
    var kind: OperationMode
    var shape: Shape
    var code: SyncError.Code
    var culprit = "b"
    var retryAfter: Duration?
    var isForEver = false

    var isSave: Bool { culprit != "c" }

    /// The error as the culprit, or the whole request, has it.
    var error: SyncError {
      var error = SyncError(code, retryAfter: retryAfter)
      if code == .serverRecordChanged, shape != .whole, isSave {
        error.serverRecord = FaultScript.serverRecord(SessionHarness.id(culprit))
      }
      return error
    }

    /// The request's items inside a partial failure.
    func items(_ recordIDs: [RecordID]) -> [ItemFailure] {
      recordIDs.map { recordID in
        ItemFailure(
          recordID,
          recordID.name == culprit ? error : SyncError(.batchRequestFailed)
        )
      }
    }

    var description: String {
      "\(kind) \(shape) \(code) of \(culprit)"
        + (retryAfter.map { " with retryAfter \($0)" } ?? "")
        + (isForEver ? ", for ever" : ", once")
    }
  }

  /// One wrong response: the call's number of its kind.
  struct Wrong: Sendable, Hashable {
    var mode: OperationMode
    var number: Int
  }

  private struct State: Sendable {
    var isRepaired = false
    var wrong: [Wrong] = []
    var saved: Set<String> = []
    var deleted: Set<String> = []
  }

  let fault: Fault
  private let state = Locked(State())

  init(_ fault: Fault) { self.fault = fault }

  /// The wrong answers that were given, in order.
  var wrong: [Wrong] { state.withLock { $0.wrong } }
  /// The names of the records that were saved.
  var saved: Set<String> { state.withLock { $0.saved } }
  /// The names of the records that were deleted.
  var deleted: Set<String> { state.withLock { $0.deleted } }

  func repair() { state.withLock { $0.isRepaired = true } }

  static func serverRecord(_ recordID: RecordID) -> Record {
    SessionHarness.record(recordID.name, ["x": 5, "y": 6], tag: "s")
  }

  /// Whether a call is answered wrongly.
  private func isWrong(_ mode: OperationMode, _ number: Int, holdsCulprit: Bool = true) -> Bool {
    guard mode == fault.kind, holdsCulprit || fault.shape == .whole else { return false }
    return state.withLock { state in
      guard !state.isRepaired, fault.isForEver || state.wrong.isEmpty else { return false }
      state.wrong.append(Wrong(mode: mode, number: number))
      return true
    }
  }

  private func note(_ response: ModifyOperation.Response) {
    state.withLock { state in
      for record in response.savedRecords { state.saved.insert(record.recordID.name) }
      for recordID in response.deletedRecordIDs { state.deleted.insert(recordID.name) }
    }
  }

  private func partial(_ recordIDs: [RecordID]) -> SyncError {
    SyncError(.partialFailure, itemErrors: fault.items(recordIDs))
  }

  // MARK: Answers

  var script: ScriptedHandler.Script {
    ScriptedHandler.Script(
      modify: { self.modify($0, $1) },
      fetch: { self.fetch($0, $1) },
      createZone: { self.create(.createZone, $0) },
      createSubscription: { self.create(.createSubscription, $0) }
    )
  }

  private func modify(
    _ operation: ModifyOperation,
    _ number: Int
  ) -> ScriptedHandler.Reply<ModifyOperation.Response> {
    let recordIDs = operation.records.map(\.recordID) + operation.recordIDsToDelete
    var response = ScriptedHandler.allSaved(operation)
    let holdsCulprit = recordIDs.contains { $0.name == fault.culprit }
    guard isWrong(.modify, number, holdsCulprit: holdsCulprit) else {
      note(response)
      return .success(response)
    }
    switch fault.shape {
    case .whole: return .failure(fault.error)
    case .alone, .amongRefused: return .failure(partial(recordIDs))
    case .amongDone:
      response.savedRecords.removeAll { $0.recordID.name == fault.culprit }
      response.deletedRecordIDs.removeAll { $0.name == fault.culprit }
      response.failures = [ItemFailure(SessionHarness.id(fault.culprit), fault.error)]
      note(response)
      return .success(response)
    }
  }

  private func fetch(
    _ operation: FetchOperation,
    _ number: Int
  ) -> ScriptedHandler.Reply<FetchOperation.Response> {
    guard operation.recordIDs.isEmpty else {
      let found = operation.recordIDs.map(Self.serverRecord)
      return .success(.init(changedRecords: found, changeToken: nil))
    }
    var page = FetchOperation.Response(
      changedRecords: [SessionHarness.record("fetched")],
      changeToken: ChangeToken(text: "end")
    )
    guard isWrong(.fetch, number) else { return .success(page) }
    switch fault.shape {
    case .whole: return .failure(fault.error)
    case .alone: return .failure(partial([SessionHarness.id("b")]))
    // The culprit is not the first: no order is promised.
    case .amongRefused: return .failure(partial([SessionHarness.id("a"), SessionHarness.id("b")]))
    case .amongDone:
      page.failures = [ItemFailure(SessionHarness.id("b"), fault.error)]
      return .success(page)
    }
  }

  private func create(_ mode: OperationMode, _ number: Int) -> ScriptedHandler.Reply<Bool> {
    guard isWrong(mode, number) else { return .success(true) }
    switch fault.shape {
    case .whole: return .failure(fault.error)
    case .alone: return .failure(partial([SessionHarness.id("b")]))
    case .amongRefused, .amongDone:
      return .failure(partial([SessionHarness.id("a"), SessionHarness.id("b")]))
    }
  }
}

extension SyncError.Code {
  /// CloudKit's 37 codes, and one that nobody knows.
  static let everyCode = cloudCodes + [.unknown(9_999)]
}
