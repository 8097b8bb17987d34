import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What keys were before they were changed: rows of other devices may still refer to them.
extension SyncTransaction {
  /// Notes that a row had a key that others refer to, and is about to have it no more.
  func noteFormer(
    _ values: [SQLiteValue],
    by link: TableLink,
    of row: RowKey
  ) throws(SQLiteError) {
    try FormerKeys(connection: connection).note(tables.name(of: values, by: link), of: row)
  }

  /// Notes the keys that a row had before it was edited.
  func noteFormerKeys(
    of key: RecordKey,
    in place: Int,
    before edits: [RowEdit]
  ) throws(SQLiteError) {
    let links = tables.links(to: place).filter { !$0.refersToKey }
    if links.isEmpty { return }
    let table = tables[place]
    var former: [String: SQLiteValue] = [:]
    for edit in edits {
      for (name, value) in edit.formerValues where former[name] == nil {
        former[name] = value
      }
    }
    if former.isEmpty { return }
    let present = try table.rows(on: connection).values(of: key.values)
    for link in links {
      let now = link.referencedColumns.map { name in
        present.flatMap { table.value(of: name, in: $0) }
      }
      let then = zip(link.referencedColumns, now).compactMap { former[$0] ?? $1 }
      if then.count < now.count || then.contains(.null) || then == now { continue }
      try noteFormer(then, by: link, of: table.rowKey(of: key))
    }
  }
}

extension RecordVersion {
  /// The columns that a table does not have: a newer version of the app knows them.
  func columns(missingIn table: RecordTable) -> [VersionedColumn] {
    columnNames.filter { table.schema.column(named: $0) == nil }
      .compactMap { name in
        value(of: name).map { VersionedColumn(name: name, value: $0, time: .zero) }
      }
  }
}

extension RowEdit {
  /// What columns held before, as far as that was captured.
  fileprivate var formerValues: [(String, SQLiteValue)] {
    let fields: [(String, FieldValue)] =
      switch self {
      case .updated(let columns, _), .inserted(let columns, _), .moved(let columns, _, _):
        columns.compactMap { column in column.former.map { (column.name, $0) } }
      case .deleted(let columns, _): columns.map { ($0.name, $0.value) }
      case .lost, .found, .settled, .restored, .renamed, .handed, .withheld, .referred: []
      }
    return fields.compactMap { name, field in
      if case .value(let value)? = ValueCodec.decode(field) { (name, value) } else { nil }
    }
  }
}

extension SyncTransaction {
  /// The tag of what the cloud is known to have of a record; nil if it is none of a row's that is known.
  func knownTag(ofRecord name: String) throws(SQLiteError) -> String? {
    guard let (place, key) = try place(ofRecord: name) else { return nil }
    return try row(key, in: place).state.known?.tag
  }

  /// The table and the key of a row by its record's name; nil if the name is none of a row's that is known.
  ///
  /// A name that has no more than a key's digest is looked for among the long keys of what is known.
  func place(ofRecord name: String) throws(SQLiteError) -> (place: Int, key: RecordKey)? {
    if let found = tables.place(ofRecord: name) ?? digestKeys[name] { return found }
    return try DigestName(name, in: self)?.knownRow()
  }

  /// The key of a row of a table that the history of another one of its rows tells of by its record's name.
  ///
  /// Whatever key a row gets, it stays in its table. So of the name its key alone counts: the table may have been called
  /// otherwise when it was noted, and the name may tell the digest of a key that fits into it now.
  func key(ofRow name: String, in place: Int) throws(SQLiteError) -> RecordKey? {
    let name = RecordName.name(
      ofKey: RecordName.key(of: name),
      recordType: tables[place].format.recordType
    )
    if let found = tables.place(ofRecord: name) ?? digestKeys[name] {
      return found.place == place ? found.key : nil
    }
    return try DigestName(name, in: self)?.row()?.key
  }
}

/// The name of a record that has no more than the digest of its row's key.
private struct DigestName: TransactionPart {
  let transaction: SyncTransaction
  private let place: Int
  private let digest: String

  /// Reads a name; nil if it is another one, or of no table that there is.
  init?(_ name: String, in transaction: SyncTransaction) {
    guard let parsed = RecordName.parse(name), parsed.key == .digest,
      let place = transaction.tables.place(named: parsed.table)
    else { return nil }
    (self.transaction, self.place, digest) = (transaction, place, RecordName.key(of: name))
  }

  /// The row whose key has the digest.
  func row() throws(SQLiteError) -> (place: Int, key: RecordKey)? {
    let loaded = transaction.rows.values.first { $0.place == place && isMeant($0.key) }
    if let loaded { return (place, loaded.key) }
    if let found = try knownRow() { return found }
    // Of a key that fits into a name now the digest is noted nowhere.
    let keys = try keysOfKnownRows(longest: RecordRules.maximumNameLength)
    defer { keys.reset() }
    while try keys.step() {
      let key = try tables[place].key(keys.value(0))
      if isMeant(key) { return (place, key) }
    }
    return nil
  }

  /// The row whose record's name has the digest, among those that are known.
  func knownRow() throws(SQLiteError) -> (place: Int, key: RecordKey)? {
    try noteKeysOnce()
    let table = tables[place]
    let name = "\(digest):\(table.format.recordType)"
    for key in try stored.longKeys.keys(named: name, in: table.id) {
      let found = try table.key(key)
      guard UTF8Bytes.equal(found.name, name), try stored.knows(RowKey(table: table.id, key: key))
      else { continue }
      return (place, found)
    }
    return nil
  }

  private func isMeant(_ key: RecordKey) -> Bool {
    UTF8Bytes.equal(RecordName.identity(of: key.name), digest)
  }

  /// Notes the long keys of rows that an earlier version of the engine has stored without noting them.
  private func noteKeysOnce() throws(SQLiteError) {
    let table = tables[place]
    if try facts.hasIndexedKeys(of: table.id) { return }
    let keys = try keysOfKnownRows(longest: nil)
    defer { keys.reset() }
    while try keys.step() {
      let key = try table.key(keys.value(0))
      try stored.longKeys.note(table.rowKey(of: key), named: key.name)
    }
    try facts.noteIndexedKeys(of: table.id)
  }

  /// The keys of the table's known rows that may be too long for a name, as the engine's tables have them.
  ///
  /// A digest stands for a key that does not fit into a name, where each of its bytes takes three at most. In UTF-16 a text has two
  /// thirds to twice as many.
  private func keysOfKnownRows(longest: Int?) throws(SQLiteError) -> SQLiteStatement {
    let table = tables[place]
    let room = RecordRules.maximumNameLength - table.format.recordType.utf8.count
    return
      try connection.fixedStatement(
        """
        SELECT key FROM (
          SELECT key FROM cloudsync_known WHERE table_id = ?1
          UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1
        ) WHERE length(CAST(key AS BLOB)) BETWEEN ?2 AND ?3
        """
      )
      .bind(table.id, at: 1).bind(Int64(room / 6), at: 2)
      .bind(longest.map { Int64(2 * $0) } ?? .max, at: 3)
  }
}
