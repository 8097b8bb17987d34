import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows of a foreign key, as SQLite matches them.
struct ForeignKeyRows {
  let link: TableLink
  let tables: SyncTables
  let connection: SQLiteConnection

  private var reference: TableReference { link.reference }
  private var parent: RecordTable { tables[link.parent] }

  /// The tables joined, of one row of the parent's, whose key is bound.
  private var join: String {
    "main.\(parent.name.quotedName) p JOIN main.\(reference.child.name.quotedName) c"
      + " ON \(reference.match(parent: "p", child: "c")) WHERE \(parent.keyCondition(from: 1, of: "p"))"
  }

  private func bind(_ key: RecordKey, to query: SQLiteStatement) {
    for (place, value) in key.values.enumerated() { query.bind(value, at: Int32(place + 1)) }
  }

  /// Whether rows refer to a row that is in its table, others than itself.
  func isReferredTo(rowOf key: RecordKey) throws(SQLiteError) -> Bool {
    var sql = "SELECT 1 FROM \(join)"
    if link.child == link.parent {
      sql += " AND NOT (\(parent.keyCondition(from: 1, of: "c")))"
    }
    let query = try connection.statement(sql + " LIMIT 1")
    bind(key, to: query)
    defer { query.reset() }
    return try query.step()
  }

  /// The keys of the rows that refer to a row which is in its table, as their columns spell them.
  func children(of key: RecordKey) throws(SQLiteError) -> [[SQLiteValue]] {
    let names = reference.child.primaryKey.map { "c.\($0.quotedName)" }
    let list = names.isEmpty ? "NULL" : names.joined(separator: ", ")
    let query = try connection.statement("SELECT \(list) FROM \(join) ORDER BY \(list)")
    bind(key, to: query)
    return try query.mapRows { query in
      (0..<query.columnCount).map { query.value($0) }
    }
  }

  /// What SET DEFAULT sets, in the order of the columns.
  func defaults() throws(SQLiteError) -> [SQLiteValue] {
    let list = reference.defaults.joined(separator: ", ")
    let query = try connection.statement("SELECT \(list)")
    defer { query.reset() }
    guard try query.step() else { return [] }
    return (0..<query.columnCount).map { query.value($0) }
  }
}

extension SyncTransaction {
  func foreignKey(of link: TableLink) -> ForeignKeyRows {
    ForeignKeyRows(link: link, tables: tables, connection: connection)
  }
}
