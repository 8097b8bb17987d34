import CloudSyncCore
import CloudSyncTestSupport

/// What is checked whenever the cloud carries something out.
extension ScriptMemory {
  /// Checks a save that the cloud carried out in a zone as it was before.
  mutating func checkSave(_ record: Record, _ entry: PendingChange?, to zone: StubZone) {
    let name = record.recordID.name
    checkSources(name, entry)
    var last = 0
    for field in record.fields {
      guard let number = field.value.int64Value else { continue }
      let version = Int(number)
      checkUndoing(record, field, version, in: zone)
      guard version < 1_000_000, field.name.hasPrefix("f") else { continue }
      last = max(last, version)
      let newest = newest["\(name).\(field.name)"] ?? 0
      expect(
        version >= newest || record.changeTag == nil,
        "\(name).\(field.name) went from version \(newest) back to \(version)"
      )
    }
    checkNoneIsSkipped(record, entry, upTo: last)
  }

  /// Requests carry the operations of a record in the order of their submission.
  private mutating func checkSources(_ name: String, _ entry: PendingChange?) {
    guard let entry, entry.source != 0, !entry.wasParked else { return }
    let sources = [entry.source] + entry.furtherSources
    expect(sources == sources.sorted(), "\(name) carries the operations \(sources)")
    if let last = lastSources[name], let first = sources.first, let newest = last.last {
      expect(
        first > newest || sources.starts(with: last),
        "\(name) carries the operations \(sources) after \(last)"
      )
    }
  }

  /// What another device wrote is replaced only by somebody who has seen it.
  private mutating func checkUndoing(
    _ record: Record,
    _ field: RecordField,
    _ version: Int,
    in zone: StubZone
  ) {
    let name = record.recordID.name
    guard let writer = zone.writer(of: field.name, in: name), writer.isOther,
      zone[name]?[field.name] != field.value
    else { return }
    let seen: Int
    if version < 1_000_000 {
      seen = max(
        ledger.edit(version: version)?.base ?? 0,
        ledger.decided[version] ?? 0,
        keptFields["\(name).\(field.name)"] ?? 0
      )
    } else {
      seen = decidedRecords[name] ?? 0
    }
    expect(
      seen >= writer.change,
      "version \(version) of \(name).\(field.name), made from revision \(seen), undoes what "
        + "another device wrote in revision \(writer.change)"
    )
  }

  /// No edit leaves before an earlier one of its record.
  private mutating func checkNoneIsSkipped(
    _ record: Record,
    _ entry: PendingChange?,
    upTo last: Int
  ) {
    let name = record.recordID.name
    for edit in ledger.edits where edit.record == name && edit.version < last {
      if isGivenUp(edit) || ledger.isInCloud(edit) || isCarried(edit, by: entry) { continue }
      switch edit.change {
      case .delete:
        // A deletion that failed for good gives way to a later save.
        expect(
          isParked(edit),
          "\(record.summary) leaves before the deletion \(edit.version)"
        )
      case .save(let fields):
        if isParked(edit), plan.resolver == .later || decidedRecords[name] != nil { continue }
        // One that is handed back is told with its operation, and later ones need not wait for that.
        let isHandedBack = plan.configuration.refusedItems == .handBack
        if isHandedBack, ledger.requests[name] ?? 0 > 1 { continue }
        // A deletion that took it along, and then failed for good, gave way as well.
        let isDeleted = ledger.edits.contains {
          $0.record == name && $0.version > edit.version && $0.change == .delete && isParked($0)
        }
        if isDeleted { continue }
        for (field, version) in fields.sorted(by: { $0.key < $1.key }) {
          guard let version else { continue }
          // A record that is made anew needs no removals.
          if field == "n", record.changeTag == nil { continue }
          let isSent = record[field].map { ($0.int64Value ?? .max) >= version } ?? false
          let isThere = (ledger.reached["\(name).\(field)"] ?? 0) >= version
          expect(
            isSent || isThere,
            "\(record.summary) leaves before version \(version) of \(name).\(field)"
          )
        }
      }
    }
  }

  private func isCarried(_ edit: ScriptLedger.Edit, by entry: PendingChange?) -> Bool {
    guard let entry, entry.source != 0 else { return false }
    let number = ledger.entries[edit.ticket].id.number
    return entry.source == number || entry.furtherSources.contains(number)
  }

  mutating func checkDeletion(_ recordID: RecordID, _ entry: PendingChange?) {
    checkSources(recordID.name, entry)
    guard let entry, entry.source != 0 else { return }
    let last = entry.furtherSources.last ?? entry.source
    for edit in ledger.edits where edit.record == recordID.name {
      let number = ledger.entries[edit.ticket].id.number
      if number >= last || isGivenUp(edit) || ledger.isInCloud(edit) { continue }
      if isCarried(edit, by: entry) || isParked(edit) { continue }
      if decidedRecords[recordID.name] != nil, edit.hasRemoval { continue }
      fail("\(recordID.name) is deleted before its earlier version \(edit.version)")
    }
  }

  // MARK: Notes

  mutating func noteSaved(_ record: Record, _ entry: PendingChange?) {
    let name = record.recordID.name
    for field in record.fields where field.name.hasPrefix("f") {
      guard let number = field.value.int64Value, number < 1_000_000 else { continue }
      newest["\(name).\(field.name)"] = Int(number)
    }
    ledger.reach(name, record.fields)
    if let entry { noteDone(entry) }
  }

  mutating func noteDeleted(_ recordID: RecordID, _ entry: PendingChange?) {
    forgetVersions(recordID.name)
    if let entry { noteDone(entry) }
  }

  private mutating func noteDone(_ entry: PendingChange) {
    let name = entry.recordID.name
    settle(entry)
    guard entry.source != 0, !entry.wasParked else { return }
    lastSources[name] = [entry.source] + entry.furtherSources
  }

  /// Notes that all of an entry is in the cloud.
  mutating func settle(_ entry: PendingChange) {
    let name = entry.recordID.name
    if let edit = entry.edit { ledger.reach(name, edit.fields) }
    if entry.source != 0 {
      for number in [entry.source] + entry.furtherSources {
        guard let ticket = ledger.ticket(numbered: number) else { continue }
        ledger.markDone(ticket: ticket, record: name)
      }
    }
    guard entry.wasParked else { return }
    ledger.unpark(name)
    for edit in ledger.edits where edit.record == name && isParkedUntold(edit) {
      ledger.markDone(ticket: edit.ticket, record: name)
    }
  }

  /// Why an edit is not done, if its operation's turn to say so has not come.
  private func untold(_ edit: ScriptLedger.Edit) -> SyncError.Code? {
    let number = ledger.entries[edit.ticket].id.number
    let open = present?.modify.open.first { $0.number == number }
    return open?.response.failures.first { $0.recordID.name == edit.record }?.error.code
  }

  private func isParkedUntold(_ edit: ScriptLedger.Edit) -> Bool {
    untold(edit).map { !Self.meansGivenUp($0) } ?? false
  }

  private static func meansGivenUp(_ code: SyncError.Code) -> Bool {
    code == .cancelled || code == .outcomeUnknown
  }

  private func isGivenUp(_ edit: ScriptLedger.Edit) -> Bool {
    edit.isGivenUp || untold(edit).map(Self.meansGivenUp) ?? false || isDroppedUntold(edit)
  }

  /// Whether the app dropped an edit while it was parked, and is told so only after an operation
  /// whose turn has not come.
  private func isDroppedUntold(_ edit: ScriptLedger.Edit) -> Bool {
    guard isParked(edit), let present else { return false }
    let number = ledger.entries[edit.ticket].id.number
    return present.modify.open.contains { open in
      open.number >= number
        && open.followUps.contains { followUp in
          if case .dropped(let recordID, _) = followUp {
            recordID.name == edit.record
          } else {
            false
          }
        }
    }
  }

  private func isParked(_ edit: ScriptLedger.Edit) -> Bool {
    edit.isParked || isParkedUntold(edit)
  }

  /// Notes what a conflict resolver decided.
  mutating func noteDecision(_ conflict: Conflict, _ resolution: ConflictResolution) {
    let name = conflict.client.recordID.name
    let seen = StubZone.change(ofTag: conflict.server.changeTag)
    note("    resolver: \(conflict.client.summary) against \(conflict.server.summary)")
    decidedRecords[name] = max(decidedRecords[name] ?? 0, seen)
    for field in conflict.client.fields {
      guard let version = field.value.int64Value.map(Int.init), version < 1_000_000 else {
        continue
      }
      ledger.decided[version] = max(ledger.decided[version] ?? 0, seen)
    }
    guard case .save(let record) = resolution else { return }
    for field in record.fields { keptFields["\(name).\(field.name)"] = seen }
    ledger.reach(name, conflict.client.fields.filter { record[$0.name] == nil })
  }
}
