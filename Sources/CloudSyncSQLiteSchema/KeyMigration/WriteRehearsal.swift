import CloudSyncSQLiteSupport

/// Tries what an app would do with a database, and takes it back.
///
/// A migration compares what works before it with what works after it. What failed before, as a trigger that calls
/// a function of the app's does here, says nothing.
struct WriteRehearsal {
  private let connection: SQLiteConnection
  private let tables: [TableSchema]
  private let indexes: [VirtualTable]

  /// Reads what there is to try.
  init(
    _ schema: DatabaseSchema,
    on connection: SQLiteConnection
  ) throws(SQLiteError) {
    self.connection = connection
    let all = schema.tables
    let triggers = all.flatMap(\.dependentSQL)
    // RAISE(ROLLBACK) and ON CONFLICT ROLLBACK would end the migration's transaction.
    let rollsBack = (all.map(\.sql) + triggers).contains { SQLText($0).hasWord("ROLLBACK") }
    tables =
      rollsBack
      ? []
      : all.filter { table in
        table.dependentSQL.contains { CreateStatement.triggerName(of: $0) != nil }
      }
    indexes = try VirtualTable.all(on: connection).filter(\.isTextIndex)
  }

  /// What does not work, with SQLite's reason, by what was tried.
  func failures() throws(SQLiteError) -> [String: String] {
    var failures: [String: String] = [:]
    for table in tables {
      for (what, statements) in attempts(with: table) {
        failures[what] = try failure(of: statements)
      }
    }
    for index in indexes {
      failures[Self.comparing(index)] = try failure(of: [Self.checkSQL(of: index)])
    }
    return failures
  }

  /// Computes the text indexes anew that agreed with their tables before and do not any more.
  func rebuildIndexes(failingBefore before: [String: String]) throws(SQLiteError) {
    for index in indexes where index.content != nil && before[Self.comparing(index)] == nil {
      if try failure(of: [Self.checkSQL(of: index)]) == nil { continue }
      let name = index.name.quotedName
      try connection.execute("INSERT INTO main.\(name)(\(name)) VALUES('rebuild')")
    }
  }

  /// Runs statements, takes them back, and tells why one failed; nil if none did.
  private func failure(of statements: [String]) throws(SQLiteError) -> String? {
    try connection.execute("SAVEPOINT cloudsync_rehearsal")
    var failure: String?
    do throws(SQLiteError) {
      for sql in statements { try connection.execute(sql) }
    } catch { failure = error.message }
    try connection.execute(
      "ROLLBACK TO cloudsync_rehearsal; RELEASE cloudsync_rehearsal"
    )
    return failure
  }

  // MARK: Attempts

  /// Writes the first row of a table again in each way.
  private func attempts(with table: TableSchema) -> [(what: String, statements: [String])] {
    let name = table.name.quotedName
    let key = table.rowNumberName.map { [$0] } ?? table.primaryKey.map(\.quotedName)
    if key.isEmpty { return [] }
    let row = key.joined(separator: ", ")
    let names = table.writableColumns.map(\.name.quotedName)
    let columns = names.joined(separator: ", ")
    let first = "(\(row)) = (SELECT \(row) FROM main.\(name) ORDER BY \(row) LIMIT 1)"
    // Another conflict rule would call the default's function, which need not be there.
    let same = names.map { "\($0) = \($0)" }.joined(separator: ", ")
    return [
      ("updating a row of \(name)", ["UPDATE OR ABORT main.\(name) SET \(same) WHERE \(first)"]),
      ("deleting a row of \(name)", ["DELETE FROM main.\(name) WHERE \(first)"]),
      (
        "inserting a row into \(name)",
        [
          "CREATE TEMP TABLE cloudsync_rehearsed AS SELECT \(columns) FROM main.\(name) WHERE \(first)",
          "DELETE FROM main.\(name) WHERE \(first)",
          "INSERT OR ABORT INTO main.\(name)(\(columns)) SELECT \(columns) FROM temp.cloudsync_rehearsed",
        ]
      ),
    ]
  }

  private static func comparing(_ index: VirtualTable) -> String {
    "comparing \(index.name.quotedName) with what it indexes"
  }

  /// Has a text index compare itself with its texts.
  private static func checkSQL(of index: VirtualTable) -> String {
    let name = index.name.quotedName
    return index.module == "fts5"
      ? "INSERT INTO main.\(name)(\(name), rank) VALUES('integrity-check', 1)"
      : "INSERT INTO main.\(name)(\(name)) VALUES('integrity-check')"
  }
}
