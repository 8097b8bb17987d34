import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The constants that the defaults of tables are; they are looked up when they are asked for first.
final class ConstantDefaults: Sendable {
  private let known = Locked<Fills?>(nil)

  func fills(
    of tables: TrackedTables,
    _ connection: HistoryConnection
  ) throws(ChangesetError) -> Fills {
    if let fills = known.withLock({ $0 }) { return fills }
    var fills = Fills()
    for table in tables.tables {
      for column in table.columns where table.schema.column(named: column)?.defaultSQL != nil {
        let value = try ColumnDefault(connection: connection).value(of: column, in: table)
        if value != .null { _ = fills.add(.init(column: column, value: value), of: table.name) }
      }
    }
    known.withLock { [fills] in $0 = fills }
    return fills
  }
}

/// The constant that a column's default is.
struct ColumnDefault {
  let connection: HistoryConnection

  /// What rows that are there get in a column that is added: NULL unless its default is a literal.
  func value(of name: String, in table: TrackedTable) throws(ChangesetError) -> SQLiteValue {
    guard let column = table.schema.column(named: name), let sql = column.defaultSQL,
      SQLText(sql).isLiteral
    else { return .null }
    try connection.execute("CREATE TEMP TABLE changesets_fill(c \(column.type) DEFAULT \(sql))")
    defer { try? connection.sqlite.execute("DROP TABLE temp.changesets_fill") }
    try connection.execute("INSERT INTO temp.changesets_fill DEFAULT VALUES")
    return try connection.failing { () throws(SQLiteError) in
      try connection.sqlite.value("SELECT c FROM temp.changesets_fill") ?? .null
    }
  }
}
