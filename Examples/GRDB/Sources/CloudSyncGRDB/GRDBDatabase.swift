// How the engine and GRDB share a connection, as found with GRDB 7.10.0:
//
// - GRDB watches a statement's rows (`sqlite3_update_hook`) only while it runs a statement of its own.
//   What the engine writes with the raw handle gives a TransactionObserver no `databaseDidChange` and no
//   `databaseDidCommit`, and no ValueObservation a new value. `notifyChanges(in:)` makes up for it; a
//   commit must follow it, and one of an empty deferred transaction, which touches no file, is enough.
// - `databaseWillCommit` is called for the engine's transactions too: SQLite's commit hook is always
//   in place. An observer that throws there undoes what the engine has done; the engine says so
//   in `errors` and stops.
// - GRDB remembers tables and prepared statements, and what these write to, triggers included.
//   The engine makes tables and triggers, hence `clearSchemaCache()`: without it GRDB may not know the
//   tables that it is told of, and passes over them in silence.
// - The engine lets go of its statements before a block returns, so `close()` finds none.
// - `DatabaseMigrator.eraseDatabaseOnSchemaChange` takes the engine's tables for a change of the
//   schema, and would erase the database at every start. Do not use it with an engine.

public import CloudSyncSQLite
public import GRDB

/// Lends the engine the writer of a `DatabaseQueue` or a `DatabasePool`.
///
/// What the engine writes reaches GRDB's observers: a `ValueObservation` of a table gets its new value.
public struct GRDBDatabase: SyncDatabase {
  private let writer: any DatabaseWriter

  /// Creates a database that lends a writer; the app goes on using it as if there were no engine.
  public init(writer: any DatabaseWriter) { self.writer = writer }

  /// Runs a block with the writer's connection, and tells GRDB which tables it has written.
  public func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    try writer.writeWithoutTransaction { db in
      guard let handle = db.sqliteConnection else {
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database is closed")
      }
      let (value, written) = try WrittenTables.recording(on: handle) { try body(handle) }
      if written.isSchemaChanged { db.clearSchemaCache() }
      if written.names.isEmpty { return value }
      try db.inTransaction(.deferred) {  // GRDB sees no statements but its own
        for name in written.names { try db.notifyChanges(in: Table(name)) }
        return .commit
      }
      return value
    }
  }
}

extension SyncEngine {
  /// Sends what GRDB commits to tables, at once, as long as the result is kept.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - writer: The writer that the engine was made with.
  ///   - onError: Takes why they cannot be observed.
  /// - Returns: What keeps the observation going.
  public func follow(
    _ tables: [String],
    in writer: any DatabaseWriter,
    onError: @escaping @Sendable (any Error) -> Void
  ) -> AnyDatabaseCancellable {
    DatabaseRegionObservation(tracking: tables.map { Table($0) })
      .start(in: writer, onError: onError) { _ in self.sendChanges() }
  }
}
