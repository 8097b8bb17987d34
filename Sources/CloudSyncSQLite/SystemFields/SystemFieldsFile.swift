public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps the system fields of records in a SQLite file of its own, so that they are there after a launch.
///
/// ```swift
/// let fields = try SystemFieldsFile(path: folder + "/notes.cloudkit")
/// let handler = CloudKitOperationHandler(
///   database: container.privateCloudDatabase, zoneID: zoneID, systemFields: fields)
/// ```
///
/// It is a cache: a file that is damaged, or no database, is replaced, and may be deleted whenever nobody uses it.
/// Exclude it from backups. Several processes may share one file.
public final class SystemFieldsFile: SystemFieldsStore {
  /// The file.
  public let path: String
  private let limit: Int64
  /// SQLite's connection is used by one thread at a time.
  private let connection: Locked<Connection>

  /// `@unchecked Sendable` because it is used under a lock alone.
  private struct Connection: @unchecked Sendable {
    var sqlite: SQLiteConnection
  }

  private static let version: Int64 = 1
  private static let busyMilliseconds: Int32 = 5_000

  /// Opens a file, and creates it if it is missing.
  ///
  /// - Parameters:
  ///   - path: The file, which nothing else is kept in; its folder must exist.
  ///   - limit: How many records it keeps: those that were saved last.
  /// - Throws: Why it cannot be opened.
  public init(path: String, limit: Int = 1_000_000) throws(SystemFieldsStoreError) {
    self.path = path
    self.limit = Int64(max(1, limit))
    connection = Locked(Connection(sqlite: try Self.open(path: path)))
  }

  private static func open(path: String) throws(SystemFieldsStoreError) -> SQLiteConnection {
    do throws(SQLiteError) { return try opened(path: path) } catch {
      guard error.kind == .notADatabase || error.kind == .damaged else {
        throw SystemFieldsStoreError(error, path: path)
      }
    }
    // Nothing in it is worth more than a look-up.
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      do { try FileManager.default.removeItem(atPath: path + suffix) } catch {
        throw SystemFieldsStoreError("\(path) is damaged and cannot be removed: \(error)")
      }
    }
    do throws(SQLiteError) { return try opened(path: path) } catch {
      throw SystemFieldsStoreError(error, path: path)
    }
  }

  private static func opened(path: String) throws(SQLiteError) -> SQLiteConnection {
    let sqlite = try SQLiteConnection(path: path)
    sqlite.setBusyTimeout(milliseconds: busyMilliseconds)
    try sqlite.useWriteAheadLog()
    // What a loss of power takes is looked up.
    try sqlite.execute("PRAGMA synchronous = NORMAL")
    try sqlite.transaction { () throws(SQLiteError) in
      guard try sqlite.integer("PRAGMA user_version") != version else { return }
      try sqlite.execute(
        """
        DROP TABLE IF EXISTS system_fields;
        CREATE TABLE system_fields(
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          zone BLOB NOT NULL, name BLOB NOT NULL, bytes BLOB NOT NULL,
          UNIQUE (zone, name)
        );
        PRAGMA user_version = \(version)
        """
      )
    }
    return sqlite
  }

  /// What is stored of some records.
  ///
  /// - Throws: Why the file cannot be read.
  public func load(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError) -> [Data?] {
    try use { (sqlite) throws(SQLiteError) in
      let select = try sqlite.fixedStatement(
        "SELECT bytes FROM system_fields WHERE zone = ? AND name = ?"
      )
      var found: [Data?] = []
      found.reserveCapacity(recordIDs.count)
      for recordID in recordIDs {
        select.bind(Self.key(of: recordID.zoneID), at: 1).bind(Array(recordID.name.utf8), at: 2)
        found.append(try select.step() ? Data(select.bytes(0)) : nil)
        select.reset()
      }
      return found
    }
  }

  /// Stores what is known of some records; the oldest go when there are too many.
  ///
  /// - Throws: Why the file cannot be written.
  public func save(_ systemFields: [SystemFields]) throws(SystemFieldsStoreError) {
    let limit = limit
    try use { (sqlite) throws(SQLiteError) in
      try sqlite.transaction { () throws(SQLiteError) in
        let insert = try sqlite.fixedStatement(
          "INSERT OR REPLACE INTO system_fields(zone, name, bytes) VALUES (?, ?, ?)"
        )
        for entry in systemFields {
          insert.bind(Self.key(of: entry.recordID.zoneID), at: 1)
            .bind(Array(entry.recordID.name.utf8), at: 2)
            .bind([UInt8](entry.bytes), at: 3)
          try insert.run()
        }
        // Numbers rise with every save, so there are never more rows than the span of numbers.
        let trim = try sqlite.fixedStatement(
          "DELETE FROM system_fields WHERE number <= (SELECT max(number) FROM system_fields) - ?"
        )
        try trim.bind(limit, at: 1).run()
      }
    }
  }

  /// Forgets records.
  ///
  /// - Throws: Why the file cannot be written.
  public func remove(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError) {
    try use { (sqlite) throws(SQLiteError) in
      try sqlite.transaction { () throws(SQLiteError) in
        let delete = try sqlite.fixedStatement(
          "DELETE FROM system_fields WHERE zone = ? AND name = ?"
        )
        for recordID in recordIDs {
          delete.bind(Self.key(of: recordID.zoneID), at: 1).bind(Array(recordID.name.utf8), at: 2)
          try delete.run()
        }
      }
    }
  }

  /// A zone as bytes: its scope, the length of the owner, the owner and the name.
  private static func key(of zoneID: ZoneID) -> [UInt8] {
    let length = zoneID.owner.utf8.count
    let head = [
      UInt8(truncatingIfNeeded: zoneID.scope.index), UInt8(truncatingIfNeeded: length >> 8),
      UInt8(truncatingIfNeeded: length),
    ]
    return head + Array(zoneID.owner.utf8) + Array(zoneID.name.utf8)
  }

  /// Uses the connection; a file that turns out to be damaged is replaced, and the work begun anew.
  private func use<Value: Sendable>(
    body: (SQLiteConnection) throws(SQLiteError) -> Value
  ) throws(SystemFieldsStoreError) -> Value {
    try connection.withLock { (connection) throws(SystemFieldsStoreError) -> Value in
      do throws(SQLiteError) { return try body(connection.sqlite) } catch {
        guard error.kind == .notADatabase || error.kind == .damaged else {
          throw SystemFieldsStoreError(error, path: path)
        }
      }
      connection.sqlite.forgetStatements()
      connection.sqlite = try Self.open(path: path)
      do throws(SQLiteError) { return try body(connection.sqlite) } catch {
        throw SystemFieldsStoreError(error, path: path)
      }
    }
  }
}

extension SystemFieldsStoreError {
  /// SQLite's error over a file.
  fileprivate init(_ error: SQLiteError, path: String) {
    self.init(SyncEngineError(error, path: path).description)
  }
}
