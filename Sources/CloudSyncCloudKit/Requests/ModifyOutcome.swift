#if canImport(CloudKit)
import CloudSyncCore

/// What CloudKit has said of a modification, item by item and in the end.
///
/// The first word about an item counts.
struct ModifyOutcome: Sendable {
  /// What the server gave a saved record.
  struct Saved: Sendable {
    var changeTag: String?
    var creationDate: Timestamp?
    var modificationDate: Timestamp?
  }

  /// Looked into, never iterated, as are the others.
  private var saved: [RecordID: Saved] = [:]
  private var deleted: Set<RecordID> = []
  private var failed: [RecordID: SyncError] = [:]

  /// Whether nothing was said about an item yet.
  private func isOpen(recordID: RecordID) -> Bool {
    saved[recordID] == nil && failed[recordID] == nil && !deleted.contains(recordID)
  }

  mutating func note(recordID: RecordID, saved fields: Saved) {
    if isOpen(recordID: recordID) { saved[recordID] = fields }
  }

  mutating func noteDeletion(of recordID: RecordID) {
    if isOpen(recordID: recordID) { deleted.insert(recordID) }
  }

  mutating func note(recordID: RecordID, failed error: SyncError) {
    if isOpen(recordID: recordID) { failed[recordID] = error }
  }

  /// What the session is answered.
  ///
  /// - Parameters:
  ///   - plan: The modification, with the items that were not sent.
  ///   - end: How the operation ended; nil if it succeeded.
  ///   - isAtomic: Whether it was all or nothing.
  /// - Returns: The response; an error only where nothing is known to be done.
  func answer(
    to plan: ModifyPlan,
    end: CloudKitFailure?,
    isAtomic: Bool
  ) -> Result<ModifyOperation.Response, SyncError> {
    if let end, end.error.code != .partialFailure, says(nothingBut: end.error.code) {
      return .failure(end.error)
    }
    var response = ModifyOperation.Response()
    for record in plan.operation.records {
      let recordID = record.recordID
      if let fields = saved[recordID] {
        // What was sent, with what the server gave it: what else CloudKit's record has, it has from here.
        var answered = record.withChangeTag(fields.changeTag)
        answered.creationDate = fields.creationDate
        answered.modificationDate = fields.modificationDate
        response.savedRecords.append(answered)
      } else {
        var error = error(of: recordID, plan: plan, end: end, isAtomic: isAtomic)
        if error.code == .serverRecordChanged { error.clientRecord = record }
        response.failures.append(ItemFailure(recordID, error))
      }
    }
    for recordID in plan.operation.recordIDsToDelete {
      if deleted.contains(recordID) {
        response.deletedRecordIDs.append(recordID)
      } else {
        let error = error(of: recordID, plan: plan, end: end, isAtomic: isAtomic)
        response.failures.append(ItemFailure(recordID, error))
      }
    }
    guard saved.isEmpty, deleted.isEmpty, !response.failures.isEmpty else {
      return .success(response.waiting(atLeast: end?.error.retryAfter))
    }
    let sent = response.failures.filter { plan.errors[$0.recordID] == nil }.map(\.error)
    if let whole = SyncError.ofZoneOrAccount(saidBy: sent) { return .failure(whole) }
    return .failure(
      SyncError(
        .partialFailure,
        end?.error.message ?? "every item failed",
        retryAfter: end?.error.retryAfter,
        itemErrors: response.waiting(atLeast: end?.error.retryAfter).failures
      )
    )
  }

  /// Whether nothing was done, and every item that something was said about has the same error.
  private func says(nothingBut code: SyncError.Code) -> Bool {
    saved.isEmpty && deleted.isEmpty && failed.values.allSatisfy { $0.code == code }
  }

  /// Why an item is not done.
  private func error(
    of recordID: RecordID,
    plan: ModifyPlan,
    end: CloudKitFailure?,
    isAtomic: Bool
  ) -> SyncError {
    if let error = plan.errors[recordID] ?? failed[recordID] { return error }
    let unknown = SyncError(.serverResponseLost, "CloudKit did not tell what became of the record")
    guard let end else { return unknown }
    guard end.error.code == .partialFailure else {
      // Some items are known to be done: of this one the network may have lost the word.
      return end.error.code.isOfNetwork
        ? SyncError(.serverResponseLost, end.error.message) : end.error
    }
    if let error = end.items[recordID] { return error }
    return isAtomic
      ? SyncError(.batchRequestFailed, "another item of the request failed") : unknown
  }
}

extension SyncError {
  /// What all items of a request say of their zone, or of the account; nil if one of them says something else.
  fileprivate static func ofZoneOrAccount(saidBy errors: [SyncError]) -> SyncError? {
    guard var first = errors.first, first.code.isOfZoneOrAccount,
      errors.allSatisfy({ $0.code == first.code })
    else { return nil }
    first.retryAfter = errors.compactMap(\.retryAfter).max()
    return first
  }
}

extension ModifyOperation.Response {
  /// The response with a wait that the server has asked for with the whole request in the errors of items that
  /// ask to wait themselves.
  fileprivate func waiting(atLeast wait: Duration?) -> Self {
    guard let wait else { return self }
    var response = self
    for index in failures.indices {
      if let own = failures[index].error.retryAfter, own < wait {
        response.failures[index].error.retryAfter = wait
      }
    }
    if !failures.isEmpty, failures.allSatisfy({ $0.error.retryAfter == nil }) {
      response.failures[0].error.retryAfter = wait
    }
    return response
  }
}
#endif
