import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What an engine does within one transaction.
struct EngineWork {
  let connection: SQLiteConnection
  let tables: SyncTables
  let options: SyncEngineOptions
  let zoneID: ZoneID
  /// What it has done so far.
  let tally = Tally()

  /// Counts what is done in a transaction.
  final class Tally {
    var counts = SyncCounts()
    /// How many records have come as they were known, as a device's own edits do.
    var known = 0
    /// When the oldest record was created that has come as it was known.
    var oldestKnown: Timestamp?
    /// Whether records are looked at even if they have come as they were known.
    var looksClosely = false
    /// Records whose rows are gone, and whose edits the session may have set aside.
    var gone: [RecordID] = []
    /// Rows in which triggers of the app's have changed what was written.
    var retouched: [Retouched] = []
  }

  var store: MetadataStore { MetadataStore(connection: connection) }
  var outbox: OutboxReader { OutboxReader(store: store, tables: tables.byID) }

  func rows(of table: SyncTable) -> RowTable { RowTable(table: table, connection: connection) }

  /// What is known of a record by its name.
  func row(named name: String) throws(SQLiteError) -> RowState? {
    guard let (table, key) = tables.place(ofPlainName: name) else {
      return try store.row(named: name)
    }
    let row = try store.row(table.id, key)
    return row.flatMap { UTF8Bytes.equal($0.recordName, name) ? $0 : nil }
  }

  func recordID(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  /// The row as this database has it, with the times of its columns.
  ///
  /// The values are nil if there is no row; what the cloud has acknowledged gives the times of what was
  /// not edited here.
  func version(
    of row: RowState,
    _ table: SyncTable,
    values: [SQLiteValue]?,
    server: RowVersion?
  ) -> RowVersion {
    if let shelf = shelfVersion(of: row), !shelf.isDeleted { return shelf }
    let life = RowVersion(
      columns: [],
      createdAt: row.createdAt ?? server?.createdAt,
      deletedAt: row.deletedAt ?? server?.deletedAt
    )
    let known = isNewLife(life, after: server, table) ? nil : server
    var columns: [VersionedColumn] = []
    let transport = transport
    for (place, column) in table.schema.writableColumns.enumerated() {
      guard let values else { break }
      // What nobody has set, such as the default in a column that a migration has added, is unknown.
      guard let time = row.editTime(of: column.name) ?? known?[column.name]?.time else { continue }
      let value = transport.fieldValue(values[place])
      columns.append(VersionedColumn(name: column.name, value: value, time: time))
    }
    return RowVersion(
      columns: columns,
      createdAt: life.createdAt,
      deletedAt: life.deletedAt,
      unknownFields: server?.unknownFields ?? []
    )
  }

  /// Whether a row is one made anew, after what the cloud has was deleted.
  func isNewLife(_ local: RowVersion, after server: RowVersion?, _ table: SyncTable) -> Bool {
    guard let server else { return false }
    return local.isNewLife(after: server, options.table(table.name).merging.deletes)
  }
}

extension SyncTable {
  /// The values of a key as the engine's tables have it.
  func keyValues(
    of key: SQLiteValue,
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> [SQLiteValue] {
    guard schema.primaryKey.count > 1, case .text(let literals) = key else { return [key] }
    // They are literals that quote() has written.
    let query = try connection.prepare("SELECT \(literals)")
    guard try query.step(), Int(query.columnCount) == schema.primaryKey.count else {
      throw SQLiteError(code: 11, message: "\(literals) is no key of \(name)")
    }
    defer { query.reset() }
    return schema.primaryKey.indices.map { query.value(Int32($0)) }
  }

  /// A key of these values as the engine's tables have it.
  func key(
    of values: [SQLiteValue],
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> SQLiteValue {
    guard values.count > 1 else { return values.first ?? .null }
    let list = values.indices.map { "quote(?\($0 + 1))" }.joined(separator: " || ',' || ")
    let query = try connection.statement("SELECT \(list)")
    for (place, value) in values.enumerated() { query.bind(value, at: Int32(place + 1)) }
    defer { query.reset() }
    return try query.step() ? query.value(0) : .null
  }

  func recordName(
    of key: SQLiteValue,
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> String {
    layout.recordName(key: try keyValues(of: key, in: connection))
  }
}
