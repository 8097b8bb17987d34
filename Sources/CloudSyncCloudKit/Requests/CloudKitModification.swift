#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Saves and deletes records: examines them, looks up those whose system fields are missing, and sends the rest.
struct CloudKitModification: Sendable {
  private struct State: Sendable {
    var outcome = ModifyOutcome()
    var systemFields: [SystemFields] = []
    var gone: [RecordID] = []
  }

  let connection: CloudKitConnection
  let call: CloudKitCall
  let answer: OnceCompletion<ModifyOperation.Response>

  private var writer: CloudKitRecordWriter {
    CloudKitRecordWriter(identifiers: connection.identifiers)
  }

  /// Carries a modification out.
  func run(_ operation: ModifyOperation) {
    do throws(SyncError) {
      var plan = try ModifyPlan(operation: operation, writer: writer)
      let tagged = plan.taggedRecords
      plan.take(stored: connection.load(recordIDs: tagged.map(\.recordID)))
      proceed(with: plan)
    } catch { answer.finish(.failure(error)) }
  }

  /// Sends what can be sent, after what is missing was looked up.
  private func proceed(with plan: ModifyPlan) {
    if plan.unknown.isEmpty { send(plan: plan) } else { lookUp(plan: plan) }
  }

  private func lookUp(plan: ModifyPlan) {
    var changeTags: [RecordID: String] = [:]
    for record in plan.unknown { changeTags[record.recordID] = record.changeTag }
    CloudKitLookup(connection: connection)
      .run(recordIDs: plan.unknown.map(\.recordID), changeTags: changeTags, in: call) { result in
        switch result {
        case .success(let found):
          var plan = plan
          plan.take(found: found)
          send(plan: plan)
        case .failure(let error): answer.finish(.failure(error))
        }
      }
  }

  private func send(plan: ModifyPlan) {
    let isAtomic = connection.options.isAtomic
    guard let sendable = plan.sendable(isAtomic: isAtomic) else {
      return answer.finish(.failure(plan.refusal(isAtomic: isAtomic)))
    }
    var records: [CKRecord] = []
    var unreadable: [Record] = []
    for edit in sendable.records {
      if let record = record(for: edit, plan: plan) {
        records.append(record)
      } else {
        unreadable.append(edit)
      }
    }
    guard unreadable.isEmpty else {
      var plan = plan
      plan.forget(systemFieldsOf: unreadable)
      return proceed(with: plan)
    }
    let operation = CKModifyRecordsOperation(
      recordsToSave: records,
      recordIDsToDelete: sendable.recordIDsToDelete.map(connection.identifiers.cloudKitID)
    )
    operation.savePolicy = .ifServerRecordUnchanged
    operation.isAtomic = isAtomic
    if connection.options.sendsClientChangeToken {
      operation.clientChangeTokenData = call.context.writeToken.data(without: plan)
    }
    let state = Locked(State())
    setItemBlocks(of: operation, state: state)
    operation.modifyRecordsResultBlock = { result in
      finish(result: result, plan: plan, state: state)
    }
    if let error = connection.send(operation: operation, in: call) {
      answer.finish(.failure(error))
    }
  }

  /// CloudKit's record of an edit; nil if its system fields cannot be read.
  private func record(for edit: Record, plan: ModifyPlan) -> CKRecord? {
    if edit.changeTag == nil { return writer.newRecord(edit) }
    guard let bytes = plan.systemFields[edit.recordID],
      let record = SystemFieldsCoding.record(
        from: bytes,
        for: edit,
        identifiers: connection.identifiers
      )
    else { return nil }
    writer.apply(edit, to: record)
    return record
  }

  private func setItemBlocks(of operation: CKModifyRecordsOperation, state: Locked<State>) {
    let connection = connection
    let records = connection.records
    let errors = CloudKitErrorReader(records: records, isModification: true)
    operation.perRecordSaveBlock = { id, result in
      let recordID = connection.identifiers.recordID(id)
      switch result {
      case .success(let record):
        let known = records.systemFields(of: record)
        let saved = ModifyOutcome.Saved(
          changeTag: record.recordChangeTag,
          creationDate: record.creationDate.map { Timestamp(inMicrosecondsOf: $0) },
          modificationDate: record.modificationDate.map { Timestamp(inMicrosecondsOf: $0) }
        )
        state.withLock { state in
          state.outcome.note(recordID: recordID, saved: saved)
          if let known { state.systemFields.append(known) }
        }
      case .failure(let error):
        let failure = errors.read(error)
        state.withLock { state in
          state.outcome.note(recordID: recordID, failed: failure.error)
          state.systemFields += failure.systemFields
        }
      }
    }
    operation.perRecordDeleteBlock = { id, result in
      let recordID = connection.identifiers.recordID(id)
      switch result {
      case .success:
        state.withLock { state in
          state.outcome.noteDeletion(of: recordID)
          state.gone.append(recordID)
        }
      case .failure(let error):
        let failure = errors.read(error)
        state.withLock { $0.outcome.note(recordID: recordID, failed: failure.error) }
      }
    }
  }

  private func finish(
    result: Result<Void, any Error>,
    plan: ModifyPlan,
    state: Locked<State>
  ) {
    var end: CloudKitFailure?
    if case .failure(let error) = result {
      end = CloudKitErrorReader(records: connection.records, isModification: true).read(error)
    }
    let seen = state.withLock { $0 }
    connection.store(known: seen.systemFields + (end?.systemFields ?? []), forgetting: seen.gone)
    let result = seen.outcome.answer(to: plan, end: end, isAtomic: connection.options.isAtomic)
    let unexplained = result.failures.filter {
      $0.error.code == .serverRecordChanged && $0.error.serverRecord == nil
    }
    if unexplained.isEmpty { return answer.finish(result) }
    // One request for all of them; should it fail, the session looks for itself.
    CloudKitLookup(connection: connection)
      .run(recordIDs: unexplained.map(\.recordID), changeTags: [:], in: call) { found in
        answer.finish(result.explainingConflicts(by: (try? found.get()) ?? [:]))
      }
  }
}

extension Result where Success == ModifyOperation.Response, Failure == SyncError {
  /// The items that failed.
  fileprivate var failures: [ItemFailure] {
    switch self {
    case .success(let response): response.failures
    case .failure(let error): error.itemErrors
    }
  }

  /// The response with the server's records in those conflicts that came without.
  fileprivate func explainingConflicts(by found: [RecordID: CloudKitLookup.Finding]) -> Self {
    func explained(_ failure: ItemFailure) -> ItemFailure {
      guard failure.error.code == .serverRecordChanged, failure.error.serverRecord == nil else {
        return failure
      }
      var failure = failure
      switch found[failure.recordID] {
      case .other(let record)?: failure.error.serverRecord = record
      case .failed(let error)? where error.code == .unknownItem: failure.error = error
      default: break
      }
      return failure
    }
    switch self {
    case .success(var response):
      response.failures = response.failures.map(explained)
      return .success(response)
    case .failure(var error):
      error.itemErrors = error.itemErrors.map(explained)
      return .failure(error)
    }
  }
}

extension WriteToken {
  /// The token as bytes; a request without some of its items is another request.
  fileprivate func data(without plan: ModifyPlan) -> Data {
    var name = nonce
    for recordID in plan.operation.itemIDs where plan.errors[recordID] != nil {
      name = UTF8Bytes.stableHash(text: recordID.name, seed: name)
    }
    return Data("\(WriteToken(nonce: name, number: number))".utf8)
  }
}
#endif
