import CloudSyncCore
import CloudSyncSQLiteSupport

/// What the cloud has: the only way in which anything of it reaches a row.
struct CloudRecords: TransactionPart {
  let transaction: SyncTransaction

  /// Takes what the cloud has: the only way in which anything of it reaches a row.
  ///
  /// A record of a table that is not here is kept for one that may come; one that cannot be read is kept with
  /// the reason.
  ///
  /// - Parameters:
  ///   - record: The whole record.
  ///   - sent: The row whose save has met it.
  /// - Returns: Whether it is news: not of the zone, and not what is known of the row already.
  /// - Throws: SQLite's reason.
  @discardableResult
  func take(_ record: Record, meeting sent: SentRow? = nil) throws(SQLiteError) -> Bool {
    if let zone = ZoneRecord(record) {
      try FetchOfEverything(transaction: transaction).take(zone)
      return false
    }
    let foreign = stored.foreign
    guard let place = tables.place(ofType: record.recordType) else {
      try foreign.keep(record, because: .unknownTable)
      return true
    }
    if let (known, key) = tables.place(ofRecord: record.recordID.name), known == place {
      // Also if it cannot be read.
      try note(seen: key, in: place)
    }
    guard let (key, version, tag) = try read(record, in: place) else { return true }
    try foreign.remove(named: record.recordID.name)
    try noteKinds(version, in: place)
    try note(seen: key, in: place)
    transaction.see(version.clock.latest)
    var sent = sent
    if try KeySeparation(transaction: transaction).separate(key, in: place, from: version) {
      // It was another row that was sent.
      sent = nil
    }
    if try transaction.isFetchingAll() {
      try UnseenEdits(transaction: transaction)
        .take(of: key, in: place, beside: version, tag: tag)
    } else {
      try UnseenEdits(transaction: transaction).takeCounters(of: key, in: place)
    }
    var known = try row(key, in: place)
    if known.isLost {
      // Rows of its table have gone with their parents while it was left out: nobody need have deleted it.
      if try transaction.isOverwritten(table: known.rowKey.table) {
        known = known.restored(to: version)
        keep(known)
      } else if let ended = try end(unseen: known, beside: version, tag: tag) {
        known = ended
      } else {
        return false
      }
    }
    known = withoutHiddenDeletion(known, beside: version)
    let former = known.state
    let wasDirty = former.isDirty
    known = completed(known)
    if let actions = known.recall(from: version, tag: tag, rules: tables[place].rules) {
      keep(known)
      MovedRows(transaction: transaction).note(actions, of: known)
    }
    let event =
      sent.map { RecordEvent.conflict(tag: tag, over: $0.record.changeTag, version, now: now) }
      ?? .has(tag: tag, version)
    var row = try reduce(event, of: key, in: place)
    if former.row == nil, row.values != nil, row.isDeleted {
      // A row that was there before anybody looked has ended elsewhere.
      row.needsWrite = true
      keep(row)
    }
    if row.state.placement.lacksFile {
      row.takeFiles(of: version)
      keep(row)
    }
    try noteEnd(of: row, by: record, formerly: former)
    // What has brought it may bring it again.
    let isNews = former.known?.tag != tag
    if wasDirty, isNews { transaction.counts.merged += 1 }
    return isNews
  }

  /// A row whose deletion stays here as others have it, if they have made it anew since: they edit a life that was not meant,
  /// and that would end with the deletion wherever it came.
  private func withoutHiddenDeletion(
    _ row: LoadedRow,
    beside version: RecordVersion
  ) -> LoadedRow {
    guard row.state.filtering != nil, row.values == nil, let own = row.state.row,
      own.clock.isDeleted, own.clock.move(of: own.clock) == nil,
      !version.clock.isDeleted, own.deleted < version.created
    else { return row }
    let restored = row.restored(to: version)
    keep(restored)
    return restored
  }

  /// A row that somebody has deleted unseen, as it is beside what the cloud has; nil if that is nothing newer: the reconciliation
  /// takes the deletion for an edit.
  private func end(
    unseen row: LoadedRow,
    beside version: RecordVersion,
    tag: String
  ) throws(SQLiteError) -> LoadedRow? {
    if UTF8Bytes.equal(row.state.known?.tag, tag) { return nil }
    // Of edits that were not sent the values are gone: there is nothing to join but the deletion. Nor is there if others have only
    // converted what the cloud had.
    guard row.state.isDirty || row.state.known?.clock.isConverted(in: version.clock) == true
    else { return row }
    return try UnseenEdits(transaction: transaction).end(lost: row)
  }

  /// Notes since when a row is deleted, and, where another device has made it one with another row, which that is.
  private func noteEnd(
    of row: LoadedRow,
    by record: Record,
    formerly former: RecordState
  ) throws(SQLiteError) {
    try transaction.noteTombstone(row, of: record)
    guard row.isDeleted, row.formerValues != nil, let version = former.row,
      !former.isDeleted, tables[row.place].uniqueKeys?.isMerge == true,
      let move = row.state.row?.clock.move(of: version.clock), move.isUnion,
      let kept = try transaction.key(ofRow: move.name, in: row.place)
    else { return }
    RowUnion(transaction: transaction).note(row.key, into: kept, in: row.place)
  }

  /// A row with what columns were filled with that its table has got since: that is compared with what others have in them.
  private func completed(_ row: LoadedRow) -> LoadedRow {
    var row = row
    if !row.isOutdated, row.source != .unknown, row.complete(in: tables[row.place]) { keep(row) }
    return row
  }

  /// Reads a record of a table's type; nil if it is kept, because no row can be made of it.
  private func read(
    _ record: Record,
    in place: Int
  ) throws(SQLiteError) -> (key: RecordKey, version: RecordVersion, tag: String)? {
    try noteEncryption(of: record, in: place)
    let format = tables[place].format
    let read: (key: RecordKey, version: RecordVersion)?
    let isOfFormerKey: Bool
    do throws(CodedError) {
      let (key, version) = try format.row(of: record)
      read = key.flatMap { key in version.map { (key, $0) } }
      isOfFormerKey =
        key == nil && version.map { format.isOfFormerKey(record, version: $0) } ?? false
    } catch {
      try keep(record, because: "\(error)")
      return nil
    }
    if isOfFormerKey {
      try stored.foreign.keep(record, because: .unknownTable)
      return nil
    }
    guard let read, let tag = record.changeTag else {
      try keep(record, because: "it is none that an engine has made of a row")
      return nil
    }
    if let column = tables[place].columnRefusing(read.key) {
      let name = "\(tables[place].name.quotedName).\(column.quotedName)"
      try keep(record, because: "its name tells no key that \(name) can hold as it is")
      return nil
    }
    for value in read.key.values where try transaction.connection.keeps(value) == false {
      try keep(record, because: "its key is a text that a database in UTF-16 cannot hold")
      return nil
    }
    return (read.key, read.version, tag)
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
      let isNew = try ColumnKinds(connection: connection)
        .show(kind, of: column.column, ofType: format.recordType)
      if isNew { transaction.mayLearnKinds = true }
    }
  }

  /// Notes which fields a record shows to be encrypted: they are so in all that is sent.
  private func noteEncryption(of record: Record, in place: Int) throws(SQLiteError) {
    if record.encryptedKeys.isEmpty { return }
    let format = tables[place].format
    let new = format.newlyEncryptedFields(of: record)
    if new.isEmpty { return }
    try EncryptedFields(connection: connection).names(ofType: format.recordType, adding: new)
    transaction.hasOtherKinds = true
  }

  /// Keeps a record that no row can be made of, for whoever asks what it is.
  private func keep(_ record: Record, because reason: String) throws(SQLiteError) {
    let subject = "record \(record.recordID.name) of type \(record.recordType)"
    try stored.foreign
      .keep(record, because: .invalid, error: "\(subject) cannot be stored: \(reason)")
  }

  /// Takes that the feed has told of a record's absence.
  ///
  /// - Returns: Whether it is news: a record was known to be there.
  /// - Throws: SQLite's reason.
  @discardableResult
  func takeAbsence(of recordID: RecordID) throws(SQLiteError) -> Bool {
    try takeAbsence(.vanished, ofRecord: recordID.name)
  }

  /// Takes that a look-up has told of a record's absence; tells whether it is news.
  @discardableResult
  func takeAbsence(of lookUp: LookUp) throws(SQLiteError) -> Bool {
    try takeAbsence(.absent(over: lookUp.tag), ofRecord: lookUp.name)
  }

  private func takeAbsence(
    _ event: RecordEvent,
    ofRecord name: String
  ) throws(SQLiteError) -> Bool {
    try stored.foreign.remove(named: name)
    guard let (place, key) = try transaction.place(ofRecord: name) else { return false }
    try note(seen: key, in: place)
    let isNews = try row(key, in: place).state.known != nil
    try reduce(event, of: key, in: place)
    return isNews
  }

  /// Notes that a fetch of everything has told about a row.
  func note(seen key: RecordKey, in place: Int) throws(SQLiteError) {
    guard try transaction.isNotingSeenRows(), !key.values.contains(.null) else { return }
    let table = tables[place]
    try stored.seen.insert(table.rowKey(of: key))
  }

  /// Notes that the cloud has saved a record while everything is fetched.
  func noteSave(of record: Record) throws(SQLiteError) {
    guard try transaction.isNotingSeenRows(),
      let (place, key) = try transaction.place(ofRecord: record.recordID.name)
    else { return }
    try stored.seen.insert(tables[place].rowKey(of: key), isAnswer: true)
  }

  /// Takes that a fetch has come to its end: what it has said nothing of, it had told before.
  func takeEndOfFetch() throws(SQLiteError) {
    for row in try stored.pending.awaitingFetch() {
      guard let place = tables.place(ofID: row.table) else { continue }
      try reduce(.fetchEnded, of: try tables[place].key(row.key), in: place)
    }
  }

  /// Gives the records to their tables that were kept because there was none, or because they could not be read.
  func adoptForeignRecords() throws(SQLiteError) {
    let foreign = stored.foreign
    for table in tables.inOrder {
      for (record, isLost) in try foreign.take(ofType: table.format.recordType) {
        if !isLost, try isTold(again: record) {
          try foreign.keep(record, because: .unknownTable)
          continue
        }
        try take(record)
        if isLost { try foreign.markUnsent(named: record.recordID.name) }
        guard isLost, let (place, key) = try transaction.place(ofRecord: record.recordID.name)
        else { continue }
        try reduce(.zoneReplaced, of: key, in: place)
      }
    }
  }
}

extension CloudRecords {
  /// Whether a record has to wait for the fetch of everything that is to come, because its row may have been changed unseen:
  /// taken before, it would write over that.
  fileprivate func isTold(again record: Record) throws(SQLiteError) -> Bool {
    guard try facts.value(.fetchAll) != nil,
      let (place, key) = try transaction.place(ofRecord: record.recordID.name),
      try facts.unreconciledTables().contains(tables[place].id)
    else { return false }
    return try row(key, in: place).source != .unknown
  }
}

extension SyncTransaction {
  /// Takes what the cloud has.
  var cloud: CloudRecords { CloudRecords(transaction: self) }
}
