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
    try own(table, mapping: mapping) { () throws(Failure) in
      do throws(SQLiteError) {
        try connection.fixedStatement("UPDATE main.cloudsync_clock SET own_all = 1").run()
      } catch { throw mapping(error) }
      return try body()
    }
  }

  /// Runs a body during which nothing is captured that is written to the one row it names last.
  func withoutCapture<Value, Failure: Error>(
    ofRowsOf table: CapturedTable,
    mapping: (SQLiteError) -> Failure,
    _ body: (OwnRows) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try own(table, mapping: mapping) { () throws(Failure) in
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
      let list = key.indices.map { "k\($0) = ?\($0 + 2)" }.joined(separator: ", ")
      let statement = try connection.statement(
        "UPDATE main.cloudsync_clock SET own_table = ?1, \(list)"
      )
      statement.bind(table.id, at: 1)
      for (place, value) in key.enumerated() { statement.bind(value, at: Int32(place + 2)) }
      try statement.run()
    }
  }

  // MARK: Scopes

  private func own<Value, Failure: Error>(
    _ table: CapturedTable,
    mapping: (SQLiteError) -> Failure,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // A key that is NULL is no row's.
    let keys = table.key.indices.map { ", k\($0) = NULL" }.joined()
    return try scope(
      mapping: mapping,
      begin: "UPDATE main.cloudsync_clock SET own_table = \(table.id), own_all = NULL\(keys)",
      end: "UPDATE main.cloudsync_clock SET own_table = NULL, own_all = NULL\(keys)",
      body
    )
  }

  /// Runs a body between two statements; where it fails, the second is run as far as that can be.
  private func scope<Value, Failure: Error>(
    mapping: (SQLiteError) -> Failure,
    begin: String,
    end: String,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    precondition(connection.isInTransaction, "a scope without capture belongs into a transaction")
    do throws(SQLiteError) { try connection.statement(begin).run() } catch { throw mapping(error) }
    let result: Value
    do throws(Failure) { result = try body() } catch {
      // Outside the transaction, which SQLite has undone, there is nothing to end.
      if connection.isInTransaction {
        do throws(SQLiteError) { try connection.statement(end).run() } catch {
          throw mapping(error)
        }
      }
      throw error
    }
    do throws(SQLiteError) { try connection.statement(end).run() } catch { throw mapping(error) }
    return result
  }
}
