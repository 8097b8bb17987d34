import CloudSyncSQLiteSupport

/// Reads and writes the rows of a synchronized table by their keys, as the columns' collations compare them.
struct TableRows {
  let connection: SQLiteConnection
  let sql: TableSQL

  private var columns: [String] { sql.columns }
  private var key: [String] { sql.key }

  /// The values of a row's columns, in the table's order; nil if there is no row.
  func values(of key: [SQLiteValue]) throws(SQLiteError) -> [SQLiteValue]? {
    let query = try connection.statement(sql.row)
    bind(key, to: query)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return columns.indices.map { query.value(Int32($0)) }
  }

  /// Whether there is a row of a key.
  func hasRow(_ key: [SQLiteValue]) throws(SQLiteError) -> Bool {
    let query = try connection.statement(sql.presence)
    bind(key, to: query)
    defer { query.reset() }
    return try query.step()
  }

  /// Whether there is a row with these values, as SQLite compares them for a foreign key.
  func hasRow(where columns: [String], are values: [SQLiteValue]) throws(SQLiteError) -> Bool {
    try keys(where: columns, are: values, limit: 1).isEmpty == false
  }

  /// The keys of the rows with these values, as SQLite compares them for a foreign key, in their order.
  func keys(
    where columns: [String],
    are values: [SQLiteValue],
    limit: Int64 = -1
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let list = key.map(\.quotedName).joined(separator: ", ")
    let condition = columns.enumerated().map { "\($1.quotedName) = ?\($0 + 1)" }
      .joined(separator: " AND ")
    let query = try connection.statement(
      "SELECT \(list) FROM \(sql.table) WHERE \(condition) ORDER BY \(list) LIMIT \(limit)"
    )
    bind(values, to: query)
    return try query.mapRows { query in key.indices.map { query.value(Int32($0)) } }
  }

  /// The keys of all rows, in their order.
  func allKeys() throws(SQLiteError) -> [[SQLiteValue]] {
    let list = key.map(\.quotedName).joined(separator: ", ")
    return try connection.statement("SELECT \(list) FROM \(sql.table) ORDER BY \(list)")
      .mapRows { query in key.indices.map { query.value(Int32($0)) } }
  }

  /// Sets columns of a row that is there.
  func update(
    _ key: [SQLiteValue],
    with changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    if changes.isEmpty { return }
    let list = changes.enumerated().map { "\($1.column.quotedName) = ?\($0 + key.count + 1)" }
      .joined(separator: ", ")
    let statement = try connection.statement(
      "UPDATE\(sql.clause) \(sql.table) SET \(list) WHERE \(TableSQL.isRow(of: self.key))"
    )
    bind(key + changes.map(\.value), to: statement)
    try statement.run()
  }

  /// Makes a row; columns that are not given get their defaults.
  func insert(_ values: [(column: String, value: SQLiteValue)]) throws(SQLiteError) {
    let names = values.map(\.column)
    if names == columns { return try insert(values.map(\.value)) }
    let statement = try connection.statement(
      TableSQL.insertion(of: names, into: sql.table, clause: sql.clause)
    )
    bind(values.map(\.value), to: statement)
    try statement.run()
  }

  /// Makes a row of the values of all columns, in the table's order.
  func insert(_ values: [SQLiteValue]) throws(SQLiteError) {
    let statement = try connection.statement(sql.insertion)
    bind(values, to: statement)
    try statement.run()
  }

  func delete(_ key: [SQLiteValue]) throws(SQLiteError) {
    let statement = try connection.statement(sql.deletion)
    bind(key, to: statement)
    try statement.run()
  }

  private func bind(_ values: [SQLiteValue], to statement: SQLiteStatement) {
    for (offset, value) in values.enumerated() { statement.bind(value, at: Int32(offset + 1)) }
  }
}
