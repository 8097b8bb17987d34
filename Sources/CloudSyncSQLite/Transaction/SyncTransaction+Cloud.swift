import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// Reads the outbox to its end: what was captured of the transaction's tables happens to their rows.
  mutating func readOutbox(_ reader: CapturedEditReader) throws(SQLiteError) {
    var batches: [CapturedBatch] = []
    try reader.readAll { batches.append($0) }
    for row in batches.flatMap(\.rows) {
      guard let place = tables.firstIndex(where: { $0.id == row.table }) else { continue }
      let key = tables[place].format.key(spelled: row.key)
      for edit in row.edits { try reduce(.edited(edit), key, in: place) }
    }
  }

  /// Takes what the cloud has: the only way in which anything of it reaches a row.
  ///
  /// A record of a table that is not here is kept for one that may come; one that cannot be read is kept with
  /// the reason.
  ///
  /// - Parameters:
  ///   - record: The whole record.
  ///   - now: When a save has met it as a conflict, in milliseconds since 1970; nil if something else has
  ///     brought it.
  /// - Throws: SQLite's reason.
  mutating func take(_ record: Record, asConflictAt now: Int64? = nil) throws(SQLiteError) {
    let foreign = ForeignRecords(connection: connection)
    guard let place = table(ofType: record.recordType) else {
      return try foreign.keep(record, .unknownTable)
    }
    let format = tables[place].format
    let read: (key: RecordKey, version: RecordVersion)?
    do throws(CodedError) {
      let key = try format.key(of: record)
      let version = try format.version(of: record)
      read = key.flatMap { key in version.map { (key, $0) } }
    } catch {
      return try foreign.keep(record, .invalid, error: "\(error)")
    }
    guard let read, let tag = record.changeTag else {
      return try foreign.keep(record, .invalid, error: "it is none of a row's of its table")
    }
    try foreign.remove(named: record.recordID.name)
    try note(read.key, in: place)
    see(read.version.clock.latest)
    let event =
      if let now {
        RecordEvent.conflict(tag: tag, read.version, now: now)
      } else {
        RecordEvent.has(tag: tag, read.version)
      }
    try reduce(event, read.key, in: place)
  }

  /// Takes that the feed has told of a record's absence.
  mutating func takeAbsence(of recordID: RecordID) throws(SQLiteError) {
    try ForeignRecords(connection: connection).remove(named: recordID.name)
    guard let (place, key) = place(of: recordID.name) else { return }
    try note(key, in: place)
    try reduce(.vanished, key, in: place)
  }

  /// Notes that a fetch of everything has told about a row.
  private mutating func note(_ key: RecordKey, in place: Int) throws(SQLiteError) {
    guard try isFetchingAll() else { return }
    let table = tables[place]
    try SeenRows(connection: connection).insert(RowKey(table: table.id, key: table.rowKey(key)))
  }

  /// Takes that a fetch has come to its end: what it has said nothing of, it had told before.
  mutating func takeEndOfFetch() throws(SQLiteError) {
    for row in try PendingRows(connection: connection).awaitingFetch() {
      guard let place = tables.firstIndex(where: { $0.id == row.table }) else { continue }
      try reduce(.fetchEnded, try tables[place].key(row.key), in: place)
    }
  }

  /// Takes that the cloud does not have the record that a row was to change: only the feed may tell why.
  mutating func takeMissing(_ sent: SentRow) throws(SQLiteError) {
    try reduce(.missing, sent.key, in: sent.table)
  }

  /// Takes that the cloud has saved a row as it was sent.
  mutating func takeSave(of sent: SentRow, as saved: Record) throws(SQLiteError) {
    guard let tag = saved.changeTag else { return }
    try reduce(.saved(tag: tag, sent.version), sent.key, in: sent.table)
  }

  /// The table and the key of a record by its name; nil if it is none of a row's, or the name has no more than the
  /// key's digest and nothing is known of the row.
  func place(of name: String) -> (Int, RecordKey)? {
    guard let parsed = RecordName.parse(name), case .values(let values) = parsed.key else {
      return nil
    }
    for (place, table) in tables.enumerated() where values.count == table.key.count {
      let key = table.format.key(spelled: values)
      if UTF8Bytes.equal(key.name, name) { return (place, key) }
    }
    return nil
  }
}
