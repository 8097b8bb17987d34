import CloudSyncCore
import CloudSyncTestSupport

/// What the cloud of a script answers, and what happens to it beside that.
extension ScriptMemory {
  /// Lets the cloud carry out a call, or not, checks what it committed, and says when the call is
  /// answered how.
  mutating func reply(
    to call: SyncWork,
    _ context: RequestContext,
    _ state: SyncState
  ) -> [StubCloud.Reply] {
    calls += 1
    present = state
    // Once something is wrong, nothing is answered: the script ends.
    if violation != nil { return [] }
    let fault = drawFault(for: call)
    note(
      "  call \(calls) \(context.attempt) \(call.summary) fault \(fault.map { "\($0)" } ?? "none")"
    )
    if case .modify = call {
      for item in call.items { ledger.requests[item.recordID.name, default: 0] += 1 }
    }
    let zone = cloud.zone
    let count = cloud.changes.count
    let outcome = cloud.serve(call, context, for: state.account.owner?.value, fault: fault)
    let commits = cloud.changes[count...]
    for commit in commits { check(commit, state.requestedEntries, to: zone) }
    if let answer = outcome.answer { noteFound(in: answer, of: call, state.requestedEntries) }
    switch fault {
    case .failureAfter: taint(call)
    case .silence: if !commits.isEmpty { taint(call) }
    default: break
    }
    return outcome.replies
  }

  private func drawFault(for call: SyncWork) -> StubCloud.Fault? {
    if isQuiet || plan.sparedCalls.contains(calls) { return nil }
    var random = SplitMix64(seed: plan.seed &* 0x9e37_79b9 &+ UInt64(calls) &* 0xbf58_476d_1ce4)
    guard random.chance(plan.faultRate, in: 100) else { return nil }
    return .draw(&random, for: call)
  }

  /// Nobody can say what becomes of a record that is saved although the response denies it.
  private mutating func taint(_ call: SyncWork) {
    ledger.tainted.formUnion(call.items.map(\.recordID.name))
  }

  /// Checks a commit of a request, given the zone as the request found it.
  ///
  /// A request has a record only once, so the zone before it is the zone before each of its items.
  private mutating func check(
    _ commit: StubCloud.Change,
    _ entries: [PendingChange],
    to zone: StubZone
  ) {
    let entry = entries.first { $0.recordID == commit.recordID }
    if let edit = commit.edit {
      checkSave(edit, entry, to: zone)
      noteSaved(edit, entry)
    } else {
      checkDeletion(commit.recordID, entry)
      noteDeleted(commit.recordID, entry)
    }
  }

  /// An edit whose values the cloud shows to be there already counts as done.
  private mutating func noteFound(
    in answer: StubCloud.Answer,
    of call: SyncWork,
    _ entries: [PendingChange]
  ) {
    switch answer {
    case .success(.modify(let response)):
      for failure in response.failures { noteFound(failure, entries) }
    case .failure(let error): for failure in error.itemErrors { noteFound(failure, entries) }
    case .success(.fetch(let response)) where call.isLookup:
      for record in response.changedRecords {
        guard let entry = entries.first(where: { $0.recordID == record.recordID }) else { continue }
        if let edit = entry.edit, record.contains(edit: edit) { settle(entry) }
      }
    default: break
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

  // MARK: Beside the requests

  mutating func performInCloud(_ action: ScriptAction) {
    switch action {
    case .otherDevice(let edit, let index):
      let name = ScriptPlan.names[index]
      cloud.otherDevice(edit, name)
      switch edit {
      case .own: break
      case .shared: ledger.tainted.insert(name)
      case .delete:
        ledger.tainted.insert(name)
        forgetVersions(name)
      }
    case .loseZone(let loss):
      if cloud.zone.exists { cloud.loseZone(loss.error) }
      forgetAllVersions()
    case .expireTokens: cloud.expireTokens()
    case .changeCloud(let behavior): cloud.behave(behavior)
    default: break
    }
  }

  mutating func changeAccount(_ change: AccountChange) {
    forgetAllVersions()
    trouble = nil
    switch change {
    case .signOut: cloud.signIn(nil)
    case .other: cloud.signIn(cloud.account == "A" ? "B" : "A")
    case .back: cloud.signIn("A")
    case .trouble(let status): trouble = status == .available ? nil : status
    }
  }
}

extension StubCloudState {
  /// Another device writes a field of a record, or deletes it.
  ///
  /// Its values are beyond all versions of the app, and each is there once.
  fileprivate mutating func otherDevice(_ edit: OtherEdit, _ name: String) {
    guard zone.exists else { return }
    let number = changes.count + 1
    let value = FieldValue.int64(Int64(1_000_000 + number))
    switch edit {
    case .own: store(SessionHarness.record(name, ["d": value]), isOther: true)
    case .shared: store(SessionHarness.record(name, ["f\(number % 3)": value]), isOther: true)
    case .delete: if zone[name] != nil { remove(SessionHarness.id(name)) }
    }
  }

  /// Takes on another mood.
  mutating func behave(_ behavior: CloudBehavior) {
    let refused = Set(behavior.refused.map { ScriptPlan.names[$0] })
    options.itemLimit = behavior.itemLimit
    options.refuse = { recordID, edit in
      let isRefused = refused.contains(recordID.name)
      guard edit != nil else { return isRefused ? SyncError(.permissionFailure, "refused") : nil }
      if isRefused { return SyncError(.invalidArguments, "refused") }
      return behavior.isFull ? SyncError(.quotaExceeded) : nil
    }
  }
}

extension ZoneLoss {
  fileprivate var error: SyncError {
    switch self {
    case .missing: SyncError(.zoneNotFound)
    case .purged: SyncError(.userDeletedZone)
    case .encryptedDataReset: SyncError(.zoneNotFound, isEncryptedDataReset: true)
    }
  }
}

extension SyncWork {
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
