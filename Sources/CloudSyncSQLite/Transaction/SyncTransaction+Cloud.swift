import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  // MARK: Edits

  private func encode(_ value: SQLiteValue) -> FieldValue {
    tables.inOrder.first?.transport.fieldValue(value) ?? .null
  }

  private var outbox: CapturedEditReader {
    CapturedEditReader(
      connection: connection,
      tables: tables.inOrder.map(\.captured),
      encode: encode
    )
  }

  /// Reads the outbox to its end: what was captured of the transaction's tables happens to their rows.
  mutating func readOutbox() throws(SQLiteError) {
    var batches: [CapturedBatch] = []
    try outbox.readAll { batches.append($0) }
    for row in batches.flatMap(\.rows) {
      guard let place = tables.place(ofID: row.table) else { continue }
      let key = tables[place].format.key(spelled: row.key)
      try find(key, in: place, before: row.edits)
      try takeUnseenCounters(key, in: place, before: row.edits)
      try noteFormerKeys(of: key, in: place, before: row.edits)
      var captured = try self.row(key, in: place)
      captured.isCaptured = true
      keep(captured)
      for edit in row.edits { try take(edit, of: key, in: place) }
      touched.insert(place)
      freed.insert(RowKey(table: row.table, key: tables[place].rowKey(key)))
      hasEdits = true
    }
    try noteSuccessors(batches.flatMap(\.rows))
    if !tables.links.isEmpty { try DepartedRows.settle(&self) }
  }

  private mutating func take(
    _ edit: RowEdit,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    let row = try row(key, in: place)
    let table = tables[place]
    if case .updated(_, let time) = edit, case .violates = row.state.placement,
      row.isDeleted(table.rules), let values = row.values
    {
      // It was to be gone and could not go: who edits it makes it anew, whole.
      try reduce(.edited(.inserted(table.edits(of: values), at: time)), key, in: place)
    } else {
      try reduce(.edited(edit), key, in: place)
    }
  }

  /// Finds a row that was there before anybody looked, and has been edited: its edits do not wait for that.
  ///
  /// In a copy of a file so does one that was made in the other file and deleted in this one.
  private mutating func find(
    _ key: RecordKey,
    in place: Int,
    before edits: [RowEdit]
  ) throws(SQLiteError) {
    let table = tables[place]
    if case .inserted? = edits.first { return }
    let isSought = try Reconciliation(connection: connection).requested().contains(table.id)
    guard isCopied || isSought else { return }
    let row = try row(key, in: place)
    guard row.state.row == nil else { return }
    let columns = row.columns(before: edits, table)
    try reduce(.edited(.found(columns)), key, in: place)
  }

  /// A time for what is found to have happened, later than all that was seen.
  mutating func nextTime() throws(SQLiteError) -> HybridTime {
    let last = HybridTime(rawValue: try connection.integer("SELECT last FROM cloudsync_clock"))
    let time = HybridTime.next(after: max(last, latest), now: now)
    try outbox.see(time)
    return time
  }

  /// Notes the times that were seen, so that whatever is edited from now on is later.
  func noteTimes() throws(SQLiteError) {
    if latest > .zero { try outbox.see(latest) }
  }

  // MARK: What the cloud has

  /// Takes what the cloud has: the only way in which anything of it reaches a row.
  ///
  /// A record of a table that is not here is kept for one that may come; one that cannot be read is kept with
  /// the reason.
  ///
  /// - Parameters:
  ///   - record: The whole record.
  ///   - sent: The row whose save has met it.
  /// - Throws: SQLite's reason.
  mutating func take(_ record: Record, meeting sent: SentRow? = nil) throws(SQLiteError) {
    if let zone = ZoneRecord(record) { return try take(zone) }
    let foreign = ForeignRecords(connection: connection)
    guard let place = tables.place(ofType: record.recordType) else {
      return try foreign.keep(record, .unknownTable)
    }
    if let (known, key) = tables.place(ofRecord: record.recordID.name), known == place {
      // Also if it cannot be read.
      try note(key, in: place)
    }
    let format = tables[place].format
    let read: (key: RecordKey, version: RecordVersion)?
    do throws(CodedError) {
      let key = try format.key(of: record)
      let version = try format.version(of: record)
      read = key.flatMap { key in version.map { (key, $0) } }
    } catch {
      return try keep(record, because: "\(error)")
    }
    guard let read, let tag = record.changeTag else {
      return try keep(record, because: "it is none that an engine has made of a row")
    }
    if let column = tables[place].columnRefusing(read.key) {
      let name = "\(tables[place].name.quotedName).\(column.quotedName)"
      return try keep(record, because: "its name tells no key that \(name) can hold as it is")
    }
    try foreign.remove(named: record.recordID.name)
    let (key, version) = read
    try noteKinds(version, in: place)
    try note(key, in: place)
    see(version.clock.latest)
    if try isFetchingAll() {
      try takeUnseenEdit(key, in: place, beside: version, tag)
    } else {
      try takeUnseenCounters(key, in: place)
    }
    var known = try row(key, in: place)
    if known.isLost {
      // It was deleted unseen, and the cloud has nothing newer: the reconciliation takes that for an edit.
      if UTF8Bytes.equal(known.state.known?.tag, tag) { return }
      // Of edits that were not sent the values are gone: there is nothing to join but the deletion.
      if known.state.isDirty {
        known = try reduce(.edited(.deleted([], at: try nextTime())), key, in: place)
      }
    }
    let former = known.state
    let wasDirty = former.isDirty
    let event =
      sent.map { RecordEvent.conflict(tag: tag, over: $0.record.changeTag, version, now: now) }
      ?? .has(tag: tag, version)
    var row = try reduce(event, key, in: place)
    if former.row == nil, row.values != nil, row.isDeleted(tables[place].rules) {
      // A row that was there before anybody looked has ended elsewhere.
      row.needsWrite = true
      keep(row)
    }
    try noteTombstone(row, of: record)
    // What has brought it may bring it again.
    if wasDirty, former.known?.tag != tag { counts.merged += 1 }
  }

  /// Notes what values of another kind in columns' own fields tell of these.
  private func noteKinds(_ version: RecordVersion, in place: Int) throws(SQLiteError) {
    if version.foreignFields.isEmpty { return }
    let format = tables[place].format
    for column in format.columns {
      guard
        let field = version.foreignFields.first(where: { UTF8Bytes.equal($0.name, column.own) }),
        let kind = ColumnKind(of: field.value), kind != column.kind
      else { continue }
      try ColumnKinds(connection: connection)
        .show(kind, of: column.column, ofType: format.recordType)
    }
  }

  /// Keeps a record that no row can be made of, for whoever asks what it is.
  private func keep(_ record: Record, because reason: String) throws(SQLiteError) {
    let subject = "record \(record.recordID.name) of type \(record.recordType)"
    try ForeignRecords(connection: connection)
      .keep(record, .invalid, error: "\(subject) cannot be stored: \(reason)")
  }

  /// Takes that the feed has told of a record's absence.
  mutating func takeAbsence(of recordID: RecordID) throws(SQLiteError) {
    try ForeignRecords(connection: connection).remove(named: recordID.name)
    guard let (place, key) = try place(ofRecord: recordID.name) else { return }
    try note(key, in: place)
    try reduce(.vanished, key, in: place)
  }

  /// Notes that a fetch of everything has told about a row.
  mutating func note(_ key: RecordKey, in place: Int) throws(SQLiteError) {
    guard try isNotingSeenRows(), !key.values.contains(.null) else { return }
    let table = tables[place]
    try SeenRows(connection: connection).insert(RowKey(table: table.id, key: table.rowKey(key)))
  }

  /// Takes that a fetch has come to its end: what it has said nothing of, it had told before.
  mutating func takeEndOfFetch() throws(SQLiteError) {
    for row in try PendingRows(connection: connection).awaitingFetch() {
      guard let place = tables.place(ofID: row.table) else { continue }
      try reduce(.fetchEnded, try tables[place].key(row.key), in: place)
    }
  }

  /// Gives the records to their tables that were kept because there was none, or because they could not be read.
  mutating func adoptForeignRecords() throws(SQLiteError) {
    let foreign = ForeignRecords(connection: connection)
    for table in tables.inOrder {
      for (record, isLost) in try foreign.take(ofType: table.format.recordType) {
        try take(record)
        guard isLost, let (place, key) = tables.place(ofRecord: record.recordID.name) else {
          continue
        }
        try reduce(.zoneReplaced, key, in: place)
      }
    }
  }

  // MARK: Answers

  /// Takes what became of rows that were sent; what is not told of them stays as it is, and is sent again.
  mutating func take(
    _ response: ModifyOperation.Response,
    to batch: SentBatch
  ) throws(SQLiteError) {
    hasAnswers = true
    if try zoneChanges() != batch.zoneChanges {
      // An answer that was told late tells of a zone that is gone.
      _ = try settle(batch.found, ModifyOperation.Response())
      return
    }
    var sent: [String: SentRow] = [:]
    let (settled, others) = try settle(batch.found, response)
    for row in batch.rows + others { sent[row.key.name] = row }
    for record in response.savedRecords {
      if let zone = ZoneRecord(record) ?? ownZone(record) {
        try takeAnswer(zone)
        continue
      }
      counts.sent += 1
      noteDate(of: record)
      if settled.contains(record.recordID.name) { continue }
      if let row = sent[record.recordID.name] {
        guard let tag = record.changeTag else { continue }
        let event = RecordEvent.saved(tag: tag, over: row.record.changeTag, row.version)
        let row = try reduce(event, row.key, in: row.table)
        try noteTombstone(row, of: record)
      } else {
        try ForeignRecords(connection: connection).noteSent(named: record.recordID.name)
      }
    }
    for record in response.alreadyInCloud {
      if let row = sent[record.recordID.name], try isOvertaken(row) { continue }
      // Others may have edited it meanwhile.
      try take(record)
    }
    let removed = Set(batch.removals.map(\.key.name))
    for failure in response.failures where !removed.contains(failure.recordID.name) {
      try take(failure, of: sent[failure.recordID.name])
    }
    try take(response, to: batch.removals)
  }

  /// Whether a page has told of a row since it was sent.
  private func isOvertaken(_ sent: SentRow) throws(SQLiteError) -> Bool {
    let state = try row(sent.key, in: sent.table).state
    return !state.awaitsAnswer(over: sent.record.changeTag)
  }

  /// Whether a row is still to be sent as it was sent.
  private func isUnmoved(_ sent: SentRow) throws(SQLiteError) -> Bool {
    let state = try row(sent.key, in: sent.table).state
    return state.isDirty && state.hold == nil && state.awaitsAnswer(over: sent.record.changeTag)
  }

  /// The record that this device has just saved, of which the answer need not have the fields.
  private func ownZone(_ record: Record) -> ZoneRecord? {
    ZoneRecord.isName(record.recordID.name) ? sentZone : nil
  }

  private mutating func take(_ failure: ItemFailure, of row: SentRow?) throws(SQLiteError) {
    let error = failure.error
    switch error.code {
    case .awaitsAppEdit, .serverRecordChanged:
      if let zone = error.serverRecord.flatMap({ ZoneRecord($0) }) { return try takeAnswer(zone) }
      if let row, try isOvertaken(row) { return }
      if let server = error.serverRecord { try take(server, meeting: row) }
      guard let row, try isUnmoved(row) else { return }
      // Nothing was learnt of it: sent again, it would only meet the same.
      let reason = "the cloud has a record of this name that cannot be read: \(error)"
      counts.parked += 1
      try reduce(
        .refused(error.code, reason: reason, isPassing: false, wait: nil, now: now),
        row.key,
        in: row.table
      )
    case .unknownItem:
      guard let row else { return }
      try reduce(.missing(tag: row.record.changeTag, now: now), row.key, in: row.table)
    case .outcomeUnknown: break
    default:
      guard let row else {
        return try ForeignRecords(connection: connection)
          .noteSent(
            named: failure.recordID.name,
            error: error.description,
            next: error.passes ? now + RecordState.firstWait : nil
          )
      }
      try take(failure, of: row.key, in: row.table)
    }
  }

  /// Takes that the cloud has refused a row.
  mutating func take(
    _ failure: ItemFailure,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    let error = failure.error
    let event = RecordEvent.refused(
      error.code,
      reason: error.description,
      isPassing: error.passes,
      wait: error.retryAfter.map { $0.clampedNanoseconds / 1_000_000 },
      now: now
    )
    let row = try reduce(event, key, in: place)
    if case .refusal = row.state.hold { counts.parked += 1 }
  }
}

extension SyncError {
  /// Whether a row that was refused with it is tried again by itself: a full storage is made free some day.
  fileprivate var passes: Bool { mayPass || code == .quotaExceeded }
}
