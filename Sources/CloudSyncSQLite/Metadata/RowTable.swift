import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Reads and writes the rows of a synchronized table.
struct RowTable {
  let table: SyncTable
  let connection: SQLiteConnection

  private var name: String { table.name.quotedName }

  /// The values of a row's writable columns, in their order; nil if there is no row.
  func values(of key: [SQLiteValue]) throws(SQLiteError) -> [SQLiteValue]? {
    let query = try connection.statement(.values(of: table)) {
      let list = table.schema.writableColumns.map(\.name.quotedName).joined(separator: ", ")
      return "SELECT \(list) FROM \(name) WHERE \(table.keyCondition(from: 1))"
    }
    bind(key, to: query)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return table.isKey.indices.map { query.value(Int32($0)) }
  }

  /// Whether there is a row with these values.
  func hasRow(where columns: [String], _ values: [SQLiteValue]) throws(SQLiteError) -> Bool {
    // As SQLite compares a foreign key: with the collation of the column that is referred to.
    let condition = columns.enumerated().map { "\($1.quotedName) = ?\($0 + 1)" }
      .joined(separator: " AND ")
    let query = try connection.statement("SELECT 1 FROM \(name) WHERE \(condition) LIMIT 1")
    bind(values, to: query)
    defer { query.reset() }
    return try query.step()
  }

  /// Sets columns of a row that is there, but those of its key.
  func update(
    _ key: [SQLiteValue],
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    let changes = withoutKey(changes)
    if changes.isEmpty { return }
    let list = changes.enumerated().map { "\($1.column.quotedName) = ?\($0 + 1)" }
      .joined(separator: ", ")
    // The rule of a unique key may be to remove other rows; NOT NULL may say what NULL means.
    let verb = table.keyedColumns.isEmpty ? "UPDATE" : "UPDATE OR ABORT"
    let statement = try connection.statement(
      "\(verb) \(name) SET \(list) WHERE \(table.keyCondition(from: changes.count + 1))"
    )
    bind(changes.map(\.value) + key, to: statement)
    try statement.run()
  }

  /// Writes a row that is there anew: columns that are not given get their defaults.
  func replace(
    _ key: [SQLiteValue],
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    let changes = withoutKey(changes)
    var list = changes.enumerated().map { "\($1.column.quotedName) = ?\($0 + 1)" }
    for column in table.schema.writableColumns
    where !table.schema.primaryKey.contains(column.name)
      && !changes.contains(where: { $0.column == column.name })
    {
      list.append("\(column.name.quotedName) = \(column.defaultSQL.map { "(\($0))" } ?? "NULL")")
    }
    if list.isEmpty { return }
    let statement = try connection.statement(
      "UPDATE \(name) SET \(list.joined(separator: ", "))"
        + " WHERE \(table.keyCondition(from: changes.count + 1))"
    )
    bind(changes.map(\.value) + key, to: statement)
    try statement.run()
  }

  /// Makes a row that is not there; columns that are not given get their defaults.
  func insert(
    _ key: [SQLiteValue],
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    let changes = withoutKey(changes)
    let columns = table.schema.primaryKey + changes.map(\.column)
    let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let list = columns.map(\.quotedName).joined(separator: ", ")
    // With OR ABORT the default of a key that is given, uuid() perhaps, is not looked at.
    let statement = try connection.statement(
      "INSERT OR ABORT INTO \(name)(\(list)) VALUES(\(marks))"
    )
    bind(key + changes.map(\.value), to: statement)
    try statement.run()
  }

  /// Makes a row of values that a record has as they are.
  func insert(_ key: [SQLiteValue], _ values: RecordLayout.PlainValues) throws(SQLiteError) {
    let statement = try connection.statement(.insert(table, columns: values.known)) {
      let columns = table.schema.writableColumns.enumerated()
        .filter { values.known & 1 << UInt64($0.offset) != 0 }
        .map(\.element.name)
        .filter { !table.schema.primaryKey.contains($0) }
      let all = table.schema.primaryKey + columns
      return """
        INSERT OR ABORT INTO \(name)(\(all.map(\.quotedName).joined(separator: ", ")))
        VALUES(\(all.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))
        """
    }
    bind(key, to: statement)
    var index = Int32(key.count)
    for (place, value) in values.values.enumerated()
    where values.known & 1 << UInt64(place) != 0 && !table.isKey[place] {
      index += 1
      statement.bind(value, at: index)
    }
    try statement.run()
  }

  private func withoutKey(
    _ changes: [(column: String, value: SQLiteValue)]
  ) -> [(column: String, value: SQLiteValue)] {
    changes.filter { !table.schema.primaryKey.contains($0.column) }
  }

  func delete(_ key: [SQLiteValue]) throws(SQLiteError) {
    let statement = try connection.statement(
      "DELETE FROM \(name) WHERE \(table.keyCondition(from: 1))"
    )
    bind(key, to: statement)
    try statement.run()
  }

  private func bind(_ values: [SQLiteValue], to statement: SQLiteStatement) {
    for (offset, value) in values.enumerated() { statement.bind(value, at: Int32(offset + 1)) }
  }
}
