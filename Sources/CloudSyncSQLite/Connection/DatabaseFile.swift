public import CloudSyncCore
package import CloudSyncSQLiteSupport

/// A database in a file, with a connection of its own.
///
/// Other connections and other processes may read and write the file at the same time: it is in
/// write-ahead mode, and who has to wait for another writer waits up to five seconds.
/// SQL on this connection can call `uuid()`, which returns a new UUID in small letters.
public final class DatabaseFile: StatementKeeping {
  /// Where it is; ":memory:" is nowhere.
  public let path: String
  private let connection: Locked<SQLiteConnection>

  /// Opens a file that exists, or creates one.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - enforcesForeignKeys: Whether this connection enforces foreign keys, as SQLite's does not unless
  ///     it is told to.
  ///   - createsFile: Whether a missing file is created.
  ///   - environment: Where the random numbers of `uuid()` come from; the system's by default.
  /// - Throws: What is wrong with the file, and what to do.
  public init(
    path: String,
    enforcesForeignKeys: Bool = true,
    createsFile: Bool = false,
    environment: SyncEnvironment = .live
  ) throws(SyncEngineError) {
    self.path = path
    connection = try sqlite(path: path) { () throws(SQLiteError) in
      let connection = try SQLiteConnection(path: path, access: createsFile ? .create : .readWrite)
      connection.setBusyTimeout(milliseconds: 5_000)
      // The first look at the file: what is no database is found here.
      if path != ":memory:" { try connection.useWriteAheadLog() }
      try connection.execute(
        // Keys that are random come to every page of an index: they should be here. What fsync leaves
        // in a drive's memory on Apple's systems is written too; elsewhere that says nothing.
        "PRAGMA synchronous = NORMAL; PRAGMA checkpoint_fullfsync = ON; PRAGMA cache_size = -16000;"
          + "PRAGMA wal_autocheckpoint = 4000;"
          + "PRAGMA foreign_keys = \(enforcesForeignKeys ? "ON" : "OFF")"
      )
      try UUIDFunction.install(on: connection, environment: environment)
      return Locked(connection)
    }
  }

  /// Takes a connection that is open; see ``DatabaseFile/init(path:access:enforcesForeignKeys:)``.
  init(path: String, opened connection: Locked<SQLiteConnection>) {
    self.path = path
    self.connection = connection
  }

  /// Runs a block with the connection, alone.
  ///
  /// The block must not call this object: it is locked meanwhile, and such a call would wait for ever, or trap.
  ///
  /// - Parameter body: What is done with SQLite's handle; it keeps neither that nor a statement.
  /// - Returns: What the block returns.
  /// - Throws: What the block throws.
  public func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    try connection.withLock { connection in try body(connection.handle) }
  }

  package func withConnection<Value: Sendable>(
    _ body: @Sendable (SQLiteConnection) throws -> Value
  ) throws -> Value {
    try connection.withLock { connection in
      defer { connection.resetStatements() }
      return try body(connection)
    }
  }

  /// Runs statements that have no values, as for a schema.
  ///
  /// - Parameter sql: The statements.
  /// - Throws: SQLite's reason.
  public func execute(_ sql: String) throws(SyncEngineError) {
    try connection.withLock { connection throws(SyncEngineError) in
      try sqlite(path: path) { () throws(SQLiteError) in try connection.execute(sql) }
    }
  }
}
