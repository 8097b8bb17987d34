import CloudSyncSQLiteSupport

/// Says which writes of a transaction are the engine's own, so that the triggers do not capture them.
///
/// What follows from them is captured: actions of foreign keys, and what the app's triggers write into
/// other rows. Each scope is part of one transaction that writes, so nobody else ever sees it.
///
/// An app's trigger asks the view `cloudsync_activity` whether it is the engine that writes, on whatever
/// connection; a function of the engine's connection would be missing on all others:
///
/// ```sql
/// CREATE TRIGGER touch AFTER UPDATE ON notes
/// WHEN NOT (SELECT is_synchronizing FROM cloudsync_activity) BEGIN … END
/// ```
///
/// The triggers are asked even for rows that a page brings: to switch off all triggers of a connection
/// (`SQLITE_DBCONFIG_ENABLE_TRIGGER`) would leave the children of cascades uncaptured.
struct CaptureSuppression {
  let connection: SQLiteConnection

  /// Says whether what is written is the engine's, and what follows from it: within one transaction.
  func setSynchronizing(_ isSynchronizing: Bool) throws(SQLiteError) {
    try connection.fixedStatement("UPDATE main.cloudsync_clock SET is_synchronizing = ?1")
      .bind(isSynchronizing ? 1 : 0, at: 1).run()
  }

  /// Runs a body during which nothing is captured that is written to a table.
  ///
  /// For tables on whose rows nothing follows: neither the app's triggers nor foreign keys that
  /// refer to the table itself.
  func withoutCapture<Value, Failure: Error>(
    of table: CapturedTable,
    mapping: (SQLiteError) -> Failure,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try scope(of: table, ownsAll: true, mapping: mapping, body)
  }

  /// Runs a body during which nothing is captured that is written to the one row it names last.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The key of the row that it begins with, as the table stores it; nil if it names one later.
  ///   - mapping: Makes an error of the body's kind of one of SQLite's.
  ///   - body: What is run.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, or SQLite's reason.
  func withoutCapture<Value, Failure: Error>(
    ofRowsOf table: CapturedTable,
    from key: [SQLiteValue]? = nil,
    mapping: (SQLiteError) -> Failure,
    _ body: (OwnRows) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try scope(of: table, from: key, mapping: mapping) { () throws(Failure) in
      try body(OwnRows(connection: connection, table: table))
    }
  }

  /// The rows of a table that the engine is writing, one after the other.
  struct OwnRows {
    fileprivate let connection: SQLiteConnection
    fileprivate let table: CapturedTable

    /// From now on this row is the engine's, and no other.
    ///
    /// Its key is as the table stores it.
    func name(_ key: [SQLiteValue]) throws(SQLiteError) {
      try CaptureSuppression(connection: connection).own(rowsOf: table.id, key: key)
    }
  }

  // MARK: Scopes

  /// Says what is the engine's: a row of a table, all its rows, or nothing.
  ///
  /// A key that is NULL is no row's.
  private func own(
    rowsOf table: Int64?,
    key: [SQLiteValue],
    ownsAll: Bool = false
  ) throws(SQLiteError) {
    let statement: SQLiteStatement
    if key.count == 1 {
      statement = try connection.fixedStatement(
        "UPDATE main.cloudsync_clock SET own_table = ?1, own_all = ?2, k0 = ?3"
      )
    } else {
      let list = key.indices.map { ", k\($0) = ?\($0 + 3)" }.joined()
      statement = try connection.statement(
        "UPDATE main.cloudsync_clock SET own_table = ?1, own_all = ?2\(list)"
      )
    }
    statement.bind(table.map { .integer($0) } ?? .null, at: 1)
      .bind(ownsAll ? .integer(1) : .null, at: 2)
    for (place, value) in key.enumerated() { statement.bind(value, at: Int32(place + 3)) }
    try statement.run()
  }

  /// Runs a body while something is the engine's; where it fails, that is ended as far as it can be.
  private func scope<Value, Failure: Error>(
    of table: CapturedTable,
    from key: [SQLiteValue]? = nil,
    ownsAll: Bool = false,
    mapping: (SQLiteError) -> Failure,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    precondition(connection.isInTransaction, "a scope without capture belongs into a transaction")
    let nothing = table.key.map { _ in SQLiteValue.null }
    let begin = { () throws(SQLiteError) in
      try own(rowsOf: table.id, key: key ?? nothing, ownsAll: ownsAll)
    }
    let end = { () throws(SQLiteError) in try own(rowsOf: nil, key: nothing) }
    do throws(SQLiteError) { try begin() } catch { throw mapping(error) }
    let result: Value
    do throws(Failure) { result = try body() } catch {
      // Outside the transaction, which SQLite has undone, there is nothing to end.
      if connection.isInTransaction {
        do throws(SQLiteError) { try end() } catch { throw mapping(error) }
      }
      throw error
    }
    do throws(SQLiteError) { try end() } catch { throw mapping(error) }
    return result
  }
}
