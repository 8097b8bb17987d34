import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A connection to the database of a history, whose errors are those of histories.
struct HistoryConnection {
  let sqlite: SQLiteConnection

  /// Runs a statement whose rows do not matter.
  func run(_ sql: String, _ values: SQLiteValue...) throws(ChangesetError) {
    try failing { () throws(SQLiteError) in try bound(sql: sql, values).run() }
  }

  /// What a body makes of every row.
  func rows<Value>(
    _ sql: String,
    _ values: SQLiteValue...,
    map: (SQLiteStatement) throws(SQLiteError) -> Value
  ) throws(ChangesetError) -> [Value] {
    try failing { () throws(SQLiteError) in try bound(sql: sql, values).mapRows(map) }
  }

  /// The first row; nil if there is none.
  func row<Value>(
    _ sql: String,
    _ values: SQLiteValue...,
    map: (SQLiteStatement) throws(SQLiteError) -> Value
  ) throws(ChangesetError) -> Value? {
    try failing { () throws(SQLiteError) in
      let statement = try bound(sql: sql, values)
      defer { statement.reset() }
      return try statement.step() ? try map(statement) : nil
    }
  }

  /// The first column of the first row; nil if there is none, or it is NULL.
  func integer(_ sql: String, _ values: SQLiteValue...) throws(ChangesetError) -> Int64? {
    try failing { () throws(SQLiteError) in
      let statement = try bound(sql: sql, values)
      defer { statement.reset() }
      return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }
  }

  /// Whether the database has a table of a name, byte by byte.
  func hasTable(_ name: String) throws(ChangesetError) -> Bool {
    try integer(
      "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = ?1",
      .text(name)
    ) != 0
  }

  /// Whether the database has nothing in it: no table, view or index, and none of a history's own.
  func isEmpty() throws(ChangesetError) -> Bool {
    try integer("SELECT count(*) FROM main.sqlite_schema") == 0
  }

  /// Runs statements that are used once and have no values.
  func execute(_ sql: String) throws(ChangesetError) {
    try failing { () throws(SQLiteError) in try sqlite.execute(sql) }
  }

  /// Runs a body in a transaction that writes: all of it or nothing.
  func transaction<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    try sqlite.transaction(body) { ChangesetError($0) }
  }

  /// Runs a body within a transaction, and undoes what it has written.
  func undoing<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    try execute("SAVEPOINT changesets_trial")
    let result: Result<Value, ChangesetError>
    do throws(ChangesetError) { result = .success(try body()) } catch { result = .failure(error) }
    // Where SQLite has undone everything by itself there is nothing to undo.
    if sqlite.isInTransaction {
      try execute("ROLLBACK TO changesets_trial; RELEASE changesets_trial")
    }
    return try result.get()
  }

  func failing<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(ChangesetError) -> Value {
    do throws(SQLiteError) { return try body() } catch { throw ChangesetError(error) }
  }

  /// The kept statement of a text, with its values.
  func bound(sql: String, _ values: [SQLiteValue]) throws(SQLiteError) -> SQLiteStatement {
    let statement = try sqlite.statement(sql)
    for (place, value) in values.enumerated() { statement.bind(value, at: Int32(place + 1)) }
    return statement
  }
}

extension ChangesetError {
  /// What an error of SQLite's means for a history.
  init(_ error: SQLiteError, path: String? = nil) {
    self.init(SyncEngineError(error, path: path))
  }

  init(_ error: SyncEngineError) {
    // Codes of databases have the same names in both.
    self.init(Code(rawValue: error.code.rawValue), path: error.path, error.reason)
  }

  /// That something of the history cannot be read.
  init(damaged what: String, _ fault: ByteFault) {
    self.init(
      .damaged,
      "\(what) cannot be read (\(fault.reason)); restore a copy of the database, or clone it again"
    )
  }
}

/// Runs a body whose faults are those of something that is kept.
func reading<Value>(
  _ what: @autoclosure () -> String,
  _ body: () throws(ByteFault) -> Value
) throws(ChangesetError) -> Value {
  do throws(ByteFault) { return try body() } catch {
    throw ChangesetError(damaged: what(), error)
  }
}

extension HistoryConnection {
  /// Runs a body outside of transactions during which foreign keys are not enforced.
  func withoutForeignKeys<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    try withForeignKeys(enforced: false, body)
  }

  /// Runs a body outside of transactions during which foreign keys are enforced or not; then they are as before.
  func withForeignKeys<Value>(
    enforced isEnforced: Bool,
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    guard try integer("PRAGMA foreign_keys") != (isEnforced ? 1 : 0) else { return try body() }
    try execute("PRAGMA foreign_keys = \(isEnforced ? "ON" : "OFF")")
    let result: Result<Value, ChangesetError>
    do throws(ChangesetError) { result = .success(try body()) } catch { result = .failure(error) }
    try execute("PRAGMA foreign_keys = \(isEnforced ? "OFF" : "ON")")
    return try result.get()
  }
}
