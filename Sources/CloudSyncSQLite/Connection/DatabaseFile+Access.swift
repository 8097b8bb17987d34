import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DatabaseFile {
  /// What is done with a file that no engine runs on.
  public enum Access: Sendable, Hashable {
    /// It is looked at: no statement may write. A file that cannot be written will do.
    case readOnly
    /// It is written, in the journal mode that it has.
    case readWrite
  }

  /// Opens a file that exists, to look at it or to change it without an engine.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - access: What is done with it.
  ///   - enforcesForeignKeys: Whether this connection enforces foreign keys.
  /// - Throws: What is wrong with the file, and what to do.
  public convenience init(
    path: String,
    access: Access,
    enforcesForeignKeys: Bool = true
  ) throws(SyncEngineError) {
    let connection = try sqlite(path: path) { () throws(SQLiteError) in
      let connection = try Self.opened(path: path, access: access)
      try connection.execute(
        "PRAGMA foreign_keys = \(enforcesForeignKeys ? "ON" : "OFF");"
          + "PRAGMA query_only = \(access == .readOnly ? "ON" : "OFF")"
      )
      return Locked(connection)
    }
    self.init(path: path, opened: connection)
  }

  private static func opened(
    path: String,
    access: Access
  ) throws(SQLiteError) -> SQLiteConnection {
    do throws(SQLiteError) {
      // SQLite falls back to reading by itself; who may write leaves no files beside this one.
      return try firstLook(try SQLiteConnection(path: path, access: .readWrite))
    } catch {
      // Where neither the file nor its folder can be written, SQLite cannot make the files that readers of a
      // log share. Without a log there is nothing to share.
      guard access == .readOnly, [.readOnly, .cannotOpen].contains(error.kind),
        !hasLog(path: path)
      else { throw error }
      return try firstLook(try SQLiteConnection(path: path, access: .unchanging))
    }
  }

  /// Whether something lies beside a file that is not in it yet.
  private static func hasLog(path: String) -> Bool {
    let facts = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    return (facts?[.size] as? Int).map { $0 > 0 } ?? false
  }

  /// Looks at a file: what is no database is found here.
  private static func firstLook(
    _ connection: SQLiteConnection
  ) throws(SQLiteError) -> SQLiteConnection {
    connection.setBusyTimeout(milliseconds: 5_000)
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    return connection
  }
}

extension SyncDatabase {
  /// A number that is another one whenever somebody else has changed the database.
  ///
  /// What is written through this database itself does not count. An app compares it with the last one
  /// to learn whether other connections or processes have edited something.
  ///
  /// - Returns: The number.
  /// - Throws: That the database cannot be read.
  public func dataVersion() throws(SyncEngineError) -> Int64 {
    try use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in try connection.integer("PRAGMA data_version") }
    }
  }
}

extension DatabaseFile {
  /// Copies the database, as of one moment, into a new file; rows keep their numbers.
  ///
  /// - Parameter path: The new file, which must not exist.
  /// - Throws: What is wrong with either file, and what to do.
  public func copy(toFile path: String) throws(SyncEngineError) {
    try use { (connection) throws(SyncEngineError) in
      let target = try sqlite(path: path) { () throws(SQLiteError) in
        try SQLiteConnection(path: path, access: .create)
      }
      let objects = try sqlite(path: path) { () throws(SQLiteError) in
        try target.integer("SELECT count(*) FROM sqlite_schema")
      }
      guard objects == 0 else {
        throw SyncEngineError(.cannotAccess, path: path, "it exists already; name a new file")
      }
      try sqlite(path: path) { () throws(SQLiteError) in try connection.copy(to: target) }
    }
  }
}
