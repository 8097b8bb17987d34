import CloudSyncSQLiteSupport

/// Reads and writes the rows of a synchronized table by their keys, as the columns' collations compare them.
struct TableRows {
  let connection: SQLiteConnection
  let name: String
  /// The columns that can be written, in the table's order.
  let columns: [String]
  let key: [String]

  private var table: String { "main.\(name.quotedName)" }

  private var isRow: String {
    key.enumerated().map { "\($1.quotedName) IS ?\($0 + 1)" }.joined(separator: " AND ")
  }

  /// The values of a row's columns, in the table's order; nil if there is no row.
  func values(of key: [SQLiteValue]) throws(SQLiteError) -> [SQLiteValue]? {
    let list = columns.map(\.quotedName).joined(separator: ", ")
    let query = try connection.statement("SELECT \(list) FROM \(table) WHERE \(isRow)")
    bind(key, to: query)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return columns.indices.map { query.value(Int32($0)) }
  }

  /// Sets columns of a row that is there.
  func update(
    _ key: [SQLiteValue],
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    if changes.isEmpty { return }
    let list = changes.enumerated().map { "\($1.column.quotedName) = ?\($0 + key.count + 1)" }
      .joined(separator: ", ")
    // The rule of a unique key may be to remove other rows.
    let statement = try connection.statement("UPDATE OR ABORT \(table) SET \(list) WHERE \(isRow)")
    bind(key + changes.map(\.value), to: statement)
    try statement.run()
  }

  /// Makes a row; columns that are not given get their defaults.
  func insert(_ values: [(column: String, value: SQLiteValue)]) throws(SQLiteError) {
    let list = values.map(\.column.quotedName).joined(separator: ", ")
    let marks = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let statement = try connection.statement(
      "INSERT OR ABORT INTO \(table)(\(list)) VALUES(\(marks))"
    )
    bind(values.map(\.value), to: statement)
    try statement.run()
  }

  func delete(_ key: [SQLiteValue]) throws(SQLiteError) {
    let statement = try connection.statement("DELETE FROM \(table) WHERE \(isRow)")
    bind(key, to: statement)
    try statement.run()
  }

  private func bind(_ values: [SQLiteValue], to statement: SQLiteStatement) {
    for (offset, value) in values.enumerated() { statement.bind(value, at: Int32(offset + 1)) }
  }
}
