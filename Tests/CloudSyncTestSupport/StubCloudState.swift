package import CloudSyncCore

/// What a stub cloud holds: the zones of its accounts, and what it was asked.
///
/// It is a value that answers at once: whoever holds it can compare it before and after a request.
package struct StubCloudState: Sendable {
  /// What became of a call.
  package struct Outcome: Sendable {
    /// The cloud's own answer, whatever is answered in its place; nil if nothing was carried out.
    package var answer: StubCloud.Answer?
    package var replies: [StubCloud.Reply]
  }

  /// A request that was carried out, at least in part.
  private struct Answered: Sendable {
    var records: [Record]
    var deletions: [RecordID]
    /// What is answered to a repeat; nil if that is judged anew.
    var response: ModifyOperation.Response?
  }

  package var options: StubCloud.Options
  /// Who is signed in, if anybody.
  package private(set) var account: String?
  /// The zone of who is signed in.
  package private(set) var zone: StubZone
  /// The zones of the other accounts.
  private var otherZones: [String: StubZone] = [:]
  /// Everything that was stored in any zone, in order.
  package private(set) var changes: [StubCloud.Change] = []
  private var generations = 0
  var calls: [StubCloud.Call] = []
  var cancelled: [Attempt] = []
  private(set) var violations: [String] = []
  private var outstanding: [Attempt] = []
  /// All that were sent.
  private var attempts: Set<Attempt> = []
  /// Looked into, never iterated.
  private var answered: [WriteToken: Answered] = [:]

  package init(_ options: StubCloud.Options) {
    self.options = options
    account = options.account
    zone = StubZone(exists: options.hasZone, generation: 0, after: 0)
  }

  // MARK: Calls

  /// Notes a call and gives its number.
  mutating func begin(_ call: StubCloud.Call) -> Int {
    let attempt = call.context.attempt
    if let other = outstanding.first(where: { $0.epoch == attempt.epoch }) {
      violations.append("\(attempt) was sent while \(other) was in flight")
    }
    if !attempts.insert(attempt).inserted {
      violations.append("\(attempt) was sent twice")
    }
    outstanding.append(attempt)
    calls.append(call)
    return calls.count - 1
  }

  /// Notes that nobody waits for a call any more.
  mutating func end(_ attempt: Attempt) { outstanding.removeAll { $0 == attempt } }

  // MARK: What happens outside of requests

  /// Signs somebody in, or out.
  package mutating func signIn(_ next: String?) {
    guard next != account else { return }
    if let account { otherZones[account] = zone }
    account = next
    zone = next.flatMap { otherZones.removeValue(forKey: $0) } ?? newZone()
  }

  /// A zone that does not exist; its tokens are its own.
  private mutating func newZone() -> StubZone {
    generations += 1
    return StubZone(exists: false, generation: generations, after: changes.count)
  }

  /// Another device creates the zone.
  package mutating func createZone() { zone.exists = true }

  package mutating func loseZone(_ error: SyncError) {
    zone = newZone()
    zone.error = error
  }

  package mutating func expireTokens() {
    generations += 1
    zone.generation = generations
  }

  /// Merges an edit into the record, or makes a new one, with the next change tag.
  @discardableResult
  package mutating func store(_ edit: Record, isOther: Bool) -> Record {
    changes.append(StubCloud.Change(recordID: edit.recordID, edit: edit))
    return zone.store(edit, change: changes.count, isOther: isOther)
  }

  package mutating func remove(_ recordID: RecordID) {
    changes.append(StubCloud.Change(recordID: recordID, edit: nil))
    zone.remove(recordID, change: changes.count)
  }

  // MARK: Requests

  /// Carries out a call, or not, and says what is answered when.
  ///
  /// The owner is whose records the session has, if it knows: a handler asks nothing of the cloud
  /// when somebody else is signed in.
  package mutating func serve(
    _ work: SyncWork,
    _ context: RequestContext,
    for owner: String? = nil,
    fault: StubCloud.Fault?
  ) -> Outcome {
    guard let fault else {
      let answer = carryOut(work, context, owner, nil)
      return Outcome(answer: answer, replies: [StubCloud.Reply(answer: answer)])
    }
    let answer = fault.isCarriedOut ? carryOut(work, context, owner, fault) : nil
    return Outcome(answer: answer, replies: fault.replies(to: answer))
  }

  private mutating func carryOut(
    _ work: SyncWork,
    _ context: RequestContext,
    _ owner: String?,
    _ fault: StubCloud.Fault?
  ) -> StubCloud.Answer {
    if account == nil || owner.map({ $0 != account }) ?? false {
      return .failure(SyncError(.notAuthenticated))
    }
    if case .modify(let operation) = work { checkRequest(operation, context.writeToken) }
    if !zone.exists, work.mode != .createZone { return .failure(zone.error) }
    switch work {
    case .createZone:
      if fault == .refusal { return .success(.createZone(false)) }
      zone.exists = true
      return .success(.createZone(true))
    case .createSubscription: return .success(.createSubscription(fault != .refusal))
    case .modify(let operation): return modify(operation, context.writeToken, fault)
    case .fetch(let operation): return fetch(operation, fault).map(SyncWork.Result.fetch)
    }
  }

  private func fetch(
    _ operation: FetchOperation,
    _ fault: StubCloud.Fault?
  ) -> Result<FetchOperation.Response, SyncError> {
    if !operation.recordIDs.isEmpty {
      let given = fault?.itemFailures ?? []
      let failed = Set(given.map(\.recordID))
      var response = zone.lookUp(operation.recordIDs.filter { !failed.contains($0) })
      response.failures += given
      return .success(response)
    }
    if fault == .stuckPage {
      return .success(FetchOperation.Response(changeToken: operation.changeToken, hasMore: true))
    }
    guard let page = zone.page(from: operation.changeToken, size: options.pageSize) else {
      return .failure(SyncError(.changeTokenExpired))
    }
    return .success(page)
  }

  // MARK: Modifications

  private mutating func checkRequest(_ operation: ModifyOperation, _ token: WriteToken) {
    if operation.itemCount == 0 { violations.append("a request is empty") }
    if operation.itemCount > options.limits.items {
      violations.append("a request has \(operation.itemCount) items")
    }
    let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
    if Set(ids).count != ids.count { violations.append("a request has a record twice") }
    if let known = answered[token],
      known.records != operation.records || known.deletions != operation.recordIDsToDelete
    {
      violations.append("the write token \(token) came with another request")
    }
  }

  private mutating func modify(
    _ operation: ModifyOperation,
    _ token: WriteToken,
    _ fault: StubCloud.Fault?
  ) -> StubCloud.Answer {
    if options.knowsWriteTokens, let known = answered[token]?.response {
      return .success(.modify(known))
    }
    if operation.itemCount > options.itemLimit ?? options.limits.items {
      return .failure(SyncError(.limitExceeded))
    }
    var response = carryOut(operation, fault)
    let isNothingDone = response.savedRecords.isEmpty && response.deletedRecordIDs.isEmpty
    if options.failsAsError, isNothingDone, !response.failures.isEmpty {
      return .failure(SyncError(.partialFailure, itemErrors: response.failures))
    }
    let isRemembered = response.failures.isEmpty || options.remembersRefusals
    answered[token] = Answered(
      records: operation.records,
      deletions: operation.recordIDsToDelete,
      response: isRemembered ? response : nil
    )
    if case .silence(let item)? = fault { response.leaveOut(item) }
    return .success(.modify(response))
  }

  private mutating func carryOut(
    _ operation: ModifyOperation,
    _ fault: StubCloud.Fault?
  ) -> ModifyOperation.Response {
    var response = ModifyOperation.Response()
    let given = fault?.itemFailures ?? []
    let items = SyncWork.modify(operation).items
    let errors = items.map { item in
      given.first { $0.recordID == item.recordID }?.error ?? refusal(item.recordID, item.edit)
    }
    let isRefused = options.isAtomic && errors.contains { $0 != nil }
    for (item, error) in zip(items, errors) {
      if let error {
        response.failures.append(ItemFailure(item.recordID, error))
      } else if isRefused {
        response.failures.append(ItemFailure(item.recordID, SyncError(.batchRequestFailed)))
      } else if let edit = item.edit {
        response.savedRecords.append(store(edit, isOther: false))
      } else {
        remove(item.recordID)
        response.deletedRecordIDs.append(item.recordID)
      }
    }
    if options.reversesSavedRecords { response.savedRecords.reverse() }
    return response
  }

  /// Why an item cannot be stored.
  private func refusal(_ recordID: RecordID, _ edit: Record?) -> SyncError? {
    if let error = options.refuse(recordID, edit) { return error }
    let present = zone[recordID.name]
    guard let edit else {
      return present == nil && options.refusesMissingDeletions ? SyncError(.unknownItem) : nil
    }
    guard options.checksChangeTags else { return nil }
    guard let present else { return edit.changeTag == nil ? nil : SyncError(.unknownItem) }
    if present.changeTag == edit.changeTag { return nil }
    guard options.tellsConflictingRecords else { return SyncError(.serverRecordChanged) }
    return SyncError(.serverRecordChanged, clientRecord: edit, serverRecord: present)
  }
}
