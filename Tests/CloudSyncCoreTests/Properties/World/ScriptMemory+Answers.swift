import CloudSyncCore
import CloudSyncTestSupport

/// How the cloud of a script answers.
extension ScriptMemory {
  /// Carries out a call, or not, and says when it is answered how.
  mutating func reply(
    to call: HandlerCall,
    _ context: RequestContext,
    _ state: SyncState
  ) -> [HandlerReply] {
    calls += 1
    present = state
    // Once something is wrong, nothing is answered: the script ends.
    if violation != nil { return [] }
    let fault = drawFault(for: call)
    note("  call \(calls) \(context.attempt) \(call.summary) fault \(fault)")
    switch fault {
    case .lost(let isDone):
      if isDone { _ = carryOut(call, context, state, nil) }
      return [HandlerReply(delay: 0, answer: .failure(SyncError(.serverResponseLost)))]
    case .silent(let isDone):
      if isDone { _ = carryOut(call, context, state, nil) }
      return []
    case .late(let milliseconds):
      let answer = carryOut(call, context, state, nil)
      return [HandlerReply(delay: Int64(milliseconds) * 1_000_000, answer: answer)]
    case .twice(let milliseconds, let fails):
      let answer = carryOut(call, context, state, nil)
      let second = fails ? HandlerAnswer.failure(SyncError(.internalError)) : answer
      return [
        HandlerReply(delay: 0, answer: answer),
        HandlerReply(delay: Int64(milliseconds) * 1_000_000, answer: second),
      ]
    case .failure(let error): return [HandlerReply(delay: 0, answer: .failure(error))]
    case .failureAfter(let error):
      _ = carryOut(call, context, state, nil)
      taint(call)
      return [HandlerReply(delay: 0, answer: .failure(error))]
    default:
      return [HandlerReply(delay: 0, answer: carryOut(call, context, state, fault))]
    }
  }

  private func drawFault(for call: HandlerCall) -> HandlerFault {
    if isQuiet || plan.sparedCalls.contains(calls) { return .none }
    var random = SplitMix64(seed: plan.seed &* 0x9e37_79b9 &+ UInt64(calls) &* 0xbf58_476d_1ce4)
    guard random.chance(plan.faultRate, in: 100) else { return .none }
    return .draw(&random, for: call)
  }

  /// Nobody can say what becomes of a record that is saved although the answer denies it.
  private mutating func taint(_ call: HandlerCall) {
    guard case .modify(let operation) = call else { return }
    for record in operation.records { ledger.tainted.insert(record.recordID.name) }
    for recordID in operation.recordIDsToDelete { ledger.tainted.insert(recordID.name) }
  }

  private mutating func carryOut(
    _ call: HandlerCall,
    _ context: RequestContext,
    _ state: SyncState,
    _ fault: HandlerFault?
  ) -> HandlerAnswer {
    if let owner = state.account.owner?.value, owner != cloud.account {
      return .failure(SyncError(.notAuthenticated))
    }
    switch call {
    case .createZone:
      guard cloud.account != nil else { return .failure(SyncError(.notAuthenticated)) }
      if case .refusal? = fault { return .success(.createZone(false)) }
      cloud.createZone()
      return .success(.createZone(true))
    case .createSubscription:
      if let refusal = cloud.refusal { return .failure(refusal) }
      if case .refusal? = fault { return .success(.createSubscription(false)) }
      return .success(.createSubscription(true))
    case .modify(let operation):
      if let refusal = cloud.refusal { return .failure(refusal) }
      return modify(operation, context, state.requestedEntries, fault)
    case .fetch(let operation):
      if let refusal = cloud.refusal { return .failure(refusal) }
      return fetch(operation, state, fault)
    }
  }

  // MARK: Fetches

  private mutating func fetch(
    _ operation: FetchOperation,
    _ state: SyncState,
    _ fault: HandlerFault?
  ) -> HandlerAnswer {
    guard operation.recordIDs.isEmpty else {
      let response = cloud.lookUp(operation.recordIDs)
      for record in response.changedRecords {
        guard
          let entry = state.requestedEntries.first(where: { $0.recordID == record.recordID })
        else { continue }
        if let edit = entry.edit, record.contains(edit: edit) { settle(entry) }
      }
      return .success(.fetch(response))
    }
    if case .stuckPage? = fault {
      let page = FetchOperation.Response(changeToken: operation.changeToken, hasMore: true)
      return .success(.fetch(page))
    }
    guard let page = cloud.page(from: operation.changeToken) else {
      return .failure(SyncError(.changeTokenExpired))
    }
    return .success(.fetch(page))
  }

  // MARK: Modifications

  private mutating func modify(
    _ operation: ModifyOperation,
    _ context: RequestContext,
    _ entries: [PendingChange],
    _ fault: HandlerFault?
  ) -> HandlerAnswer {
    if let known = cloud.repeated(context.writeToken) { return .success(.modify(known)) }
    if let limit = cloud.mood.itemLimit, operation.itemCount > limit {
      return .failure(SyncError(.limitExceeded))
    }
    var failures = judge(operation, fault)
    let isRefused = !failures.isEmpty && plan.cloud.isAtomic
    if isRefused { addBatchFailures(operation, &failures) }
    var response = ModifyOperation.Response()
    let failed = Set(failures.map(\.recordID))
    for record in operation.records where !failed.contains(record.recordID) {
      let entry = entries.first { $0.recordID == record.recordID }
      checkSave(record, entry)
      response.savedRecords.append(cloud.save(record))
      noteSaved(record, entry)
    }
    for recordID in operation.recordIDsToDelete where !failed.contains(recordID) {
      let entry = entries.first { $0.recordID == recordID }
      checkDeletion(recordID, entry)
      cloud.delete(recordID)
      noteDeleted(recordID, entry)
      response.deletedRecordIDs.append(recordID)
    }
    response.failures = failures
    if failures.isEmpty { cloud.remember(response, for: context.writeToken) }
    for failure in failures { noteFound(failure, entries) }
    if case .silence(let item)? = fault {
      response.hush(item)
      taint(.modify(operation))
    }
    if plan.cloud.shufflesAnswers { response.savedRecords.reverse() }
    if isRefused, plan.cloud.failsAsError {
      return .failure(SyncError(.partialFailure, itemErrors: failures))
    }
    return .success(.modify(response))
  }

  /// The items that fail, in the order of the request.
  private func judge(_ operation: ModifyOperation, _ fault: HandlerFault?) -> [ItemFailure] {
    var random = SplitMix64(seed: 0)
    var share = 0
    if case .items(let number)? = fault {
      random = SplitMix64(seed: number)
      share = 2
    }
    var failures: [ItemFailure] = []
    for record in operation.records {
      if random.chance(share, in: 3) {
        failures.append(ItemFailure(record.recordID, .item(&random)))
      } else if case .failed(let error) = cloud.judge(save: record) {
        failures.append(ItemFailure(record.recordID, error))
      }
    }
    for recordID in operation.recordIDsToDelete {
      if random.chance(share, in: 3) {
        failures.append(ItemFailure(recordID, .item(&random)))
      } else if case .failed(let error) = cloud.judge(delete: recordID) {
        failures.append(ItemFailure(recordID, error))
      }
    }
    return failures
  }

  private func addBatchFailures(_ operation: ModifyOperation, _ failures: inout [ItemFailure]) {
    let all = operation.records.map(\.recordID) + operation.recordIDsToDelete
    let known = failures
    failures = all.map { recordID in
      known.first { $0.recordID == recordID }
        ?? ItemFailure(recordID, SyncError(.batchRequestFailed))
    }
  }

  /// An item that failed because what it wants is so already counts as done.
  private mutating func noteFound(_ failure: ItemFailure, _ entries: [PendingChange]) {
    guard let entry = entries.first(where: { $0.recordID == failure.recordID }) else { return }
    if let edit = entry.edit {
      if let server = failure.error.serverRecord, server.contains(edit: edit) { settle(entry) }
    } else if failure.error.code == .unknownItem {
      settle(entry)
    }
  }
}

extension ModifyOperation.Response {
  /// Leaves one item that was carried out unmentioned.
  fileprivate mutating func hush(_ item: Int) {
    if item < savedRecords.count {
      savedRecords.remove(at: item)
    } else if item - savedRecords.count < deletedRecordIDs.count {
      deletedRecordIDs.remove(at: item - savedRecords.count)
    }
  }
}

extension HandlerCall {
  var summary: String {
    switch self {
    case .createZone: "zone"
    case .createSubscription: "subscription"
    case .modify(let operation):
      "modify "
        + (operation.records.map(\.summary) + operation.recordIDsToDelete.map { "-\($0.name)" })
        .joined(separator: ", ")
    case .fetch(let operation):
      operation.recordIDs.isEmpty
        ? "fetch from \(operation.changeToken.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "-")"
        : "look up \(operation.recordIDs.map(\.name))"
    }
  }
}

extension Record {
  /// The record in a few characters, for a trace.
  var summary: String {
    let values = fields.map { field in
      "\(field.name)=\(field.value.int64Value.map(String.init) ?? "null")"
    }
    return "\(recordID.name)@\(changeTag ?? "-")(\(values.joined(separator: " ")))"
  }
}
