#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport

/// What the app of a script submits.
extension ScriptMemory {
  /// Makes an operation of a plan, with versions that nobody used before.
  mutating func makeOperation(_ edits: EditPlan) -> (ticket: Int, operation: ModifyOperation) {
    var records: [Record] = []
    var deletions: [RecordID] = []
    var ancestors: [Record] = []
    let names = edits.items.map { ScriptPlan.names[$0.record] }
    let ticket = ledger.add(
      isFetch: false,
      records: names,
      hasCheckpoint: edits.hasCheckpoint,
      process: process
    )
    for item in edits.items {
      app.version += 1
      let name = ScriptPlan.names[item.record]
      let recordID = SessionHarness.id(name)
      let known = app.known[name] ?? []
      if case .delete = item.change {
        deletions.append(recordID)
        add(.delete, name, ticket, base: 0)
        continue
      }
      let (base, isWhole) = base(of: item, known)
      var fields = fields(of: item.change)
      // A whole record can only take away what the app knew to be there.
      if isWhole, case .toggle = item.change, base?["n"] == nil, fields["n"] == .some(nil) {
        fields = [:]
      }
      var record = Record(recordType: "Note", recordID: recordID, changeTag: base?.changeTag)
      if isWhole, let base {
        record = base
        ancestors.append(base)
        if ledger.expectation(name).isEmpty { ledger.tainted.insert(name) }
      }
      add(.save(fields), name, ticket, base: StubZone.change(ofTag: base?.changeTag))
      for (field, version) in fields.sorted(by: { $0.key < $1.key }) {
        if let version {
          record[field] = .int64(Int64(version))
        } else {
          record[field] = isWhole ? nil : .null
        }
      }
      records.append(record)
    }
    let operation = ModifyOperation(
      records: records,
      recordIDsToDelete: deletions,
      checkpointID: edits.hasCheckpoint
        ? UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0)) : nil,
      ancestors: ancestors
    )
    return (ticket, operation)
  }

  private mutating func add(
    _ change: ScriptLedger.Edit.Change,
    _ name: String,
    _ ticket: Int,
    base: Int
  ) {
    ledger.edits.append(
      ScriptLedger.Edit(
        version: app.version,
        ticket: ticket,
        record: name,
        change: change,
        base: base
      )
    )
  }

  private func base(of item: EditPlan.Item, _ known: [Record]) -> (Record?, isWhole: Bool) {
    switch item.base {
    case .fresh: (known.last, false)
    case .stale(let age): (known.dropLast(min(age + 1, known.count)).last ?? known.first, false)
    case .none: (nil, false)
    case .whole: (known.last, known.last != nil)
    }
  }

  private func fields(of change: EditPlan.Change) -> [String: Int?] {
    switch change {
    case .set(let indexes):
      var fields: [String: Int?] = [:]
      for index in indexes { fields["f\(index)"] = app.version }
      return fields
    case .toggle: return ["n": app.version % 2 == 0 ? Int?.none : app.version]
    case .delete: return [:]
    }
  }

  // MARK: At rest

  /// Every record that the app was told is parked is still somewhere in the state.
  mutating func checkParked(_ state: SyncState) {
    if plan.configuration.refusedItems == .handBack {
      expect(state.parked.entries.isEmpty, "something is parked that was to be handed back")
    }
    for name in ScriptPlan.names {
      guard let edit = ledger.edits.first(where: { $0.record == name && $0.isParked }) else {
        continue
      }
      let recordID = SessionHarness.id(name)
      let isThere =
        state.parked.entries[recordID] != nil
        || state.modify.batch.contains { $0.recordID == recordID }
        || state.parked.returning.contains { $0.recordID == recordID }
        // What became of it is told after an operation whose turn has not come.
        || state.modify.open.contains { $0.followUps.contains { $0.recordID == recordID } }
      if isThere || ledger.isInCloud(edit) { continue }
      if decidedRecords[name] != nil, plan.resolver != .client || edit.hasRemoval { continue }
      fail("version \(edit.version) of \(name) was parked and is nowhere now")
    }
  }

  /// Nothing is left to be done now, and the session will look again in time.
  mutating func checkRest(_ state: SyncState, at now: Timestamp, elapsed: Int64) {
    let isLate = elapsed < lateUntil
    switch state.next(at: now) {
    case .request(let request):
      if !isLate { fail("a \(request.mode) is wanted and not made") }
    case .wait(let reasons, let until):
      if let until, until <= now, !isLate {
        fail("the time to look again has passed, waiting for \(reasons.rawValue)")
      }
    }
    expect(isLate || !state.isAccountCheckDue, "the account's provider is to be asked and is not")
    if let broken = state.brokenInvariant(.all) { fail("the state contradicts itself: \(broken)") }
    // A restored session announces what happened to them only when it is started.
    if !state.cold.value.redeliversOnStart { checkParked(state) }
  }
}
