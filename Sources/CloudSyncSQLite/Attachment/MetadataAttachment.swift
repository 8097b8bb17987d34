import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file that has what the engine knows of the rows, when it is not in the database itself.
///
/// A transaction over two files in write-ahead mode is not atomic across a crash: SQLite commits the
/// database first and what is attached after it. So the attached file may be one transaction behind, never
/// ahead. Both count transactions; whoever begins one and finds them apart mends it first:
///
/// - Captured edits are removed only in a later transaction than the one that has stored them.
/// - Which page was stored last is in the attached file, so it is applied once more, which does no
///   harm to rows without edits. What was merged with edits is noted in the database too
///   (`cloudsync_staged`), and comes from there.
/// - Rows that were deleted, or were to be uploaded, as a whole: the database says so.
/// - Rows that nobody knows are taken for new ones.
struct MetadataAttachment: Sendable {
  static let schema = "cloudsync_metadata"

  let path: String

  init(path: String) { self.path = path }

  /// The attachment that options want.
  init?(_ location: SyncMetadataLocation) {
    guard case .attached(let path) = location else { return nil }
    self.path = path
  }

  /// The attachment that a database says it has.
  static func known(to connection: SQLiteConnection) throws(SyncEngineError) -> MetadataAttachment?
  {
    guard try MetadataSchema.installedVersion(connection) != nil else { return nil }
    let path = try sqlite { () throws(SQLiteError) in
      try MetadataStore(connection: connection).info("metadata_path")
    }
    guard case .text(let path)? = path else { return nil }
    return MetadataAttachment(path: path)
  }

  /// Whether the file is there.
  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// Attaches the file, unless it is attached; outside of any transaction.
  func attach(to connection: SQLiteConnection) throws(SyncEngineError) {
    guard connection.file(ofSchema: Self.schema) == nil else { return }
    try sqlite(path: path) { () throws(SQLiteError) in
      // The host's connection may be one that makes no files.
      if !exists {
        try SQLiteConnection(path: path, access: .create).execute("PRAGMA journal_mode = WAL")
      }
      try connection.prepare("ATTACH ?1 AS \(Self.schema)").bind(path, at: 1).run()
      try connection.execute(
        """
        PRAGMA \(Self.schema).journal_mode = WAL;
        PRAGMA main.synchronous = FULL; PRAGMA \(Self.schema).synchronous = FULL;
        PRAGMA fullfsync = ON;
        """
      )
      if try hasTables(connection) { try connection.execute(Self.statusView) }
    }
  }

  /// Attaches the file that a database says it has, if it is there.
  static func attachKnown(to connection: SQLiteConnection) throws(SyncEngineError) {
    guard connection.file(ofSchema: schema) == nil, let known = try known(to: connection) else {
      return
    }
    guard known.exists else { throw known.isMissing }
    try known.attach(to: connection)
  }

  /// The view needs the tables of both files, so it can be in neither.
  static var statusView: String {
    "CREATE TEMP VIEW IF NOT EXISTS cloudsync_status AS \(MetadataSchema.status);"
  }

  func hasTables(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    try connection.integer(
      """
      SELECT count(*) FROM \(Self.schema).sqlite_schema
      WHERE name = 'cloudsync_facts' AND type = 'table'
      """
    ) == 1
  }

  /// Lets go of the file and removes it; its tables are gone.
  func remove(from connection: SQLiteConnection) throws(SyncEngineError) {
    if connection.file(ofSchema: Self.schema) != nil {
      connection.forgetStatements()
      try sqlite(path: path) { () throws(SQLiteError) in
        try connection.execute("DROP VIEW IF EXISTS temp.cloudsync_status; DETACH \(Self.schema)")
      }
    }
    for file in [path, path + "-wal", path + "-shm"]
    where FileManager.default.fileExists(atPath: file) {
      do { try FileManager.default.removeItem(atPath: file) } catch {
        throw SyncEngineError(.cannotAccess, path: file, "it cannot be removed: \(error)")
      }
    }
  }

  // MARK: Errors

  var isMissing: SyncEngineError {
    SyncEngineError(
      .lostMetadata,
      path: path,
      "the file with the engine's metadata is missing; put it back, or accept with "
        + "acceptsLostMetadata that everything is fetched and merged anew"
    )
  }

  func isForeign(_ reason: String) -> SyncEngineError {
    SyncEngineError(
      .lostMetadata,
      path: path,
      "\(reason); put the right file there, or accept with acceptsLostMetadata that everything is "
        + "fetched and merged anew"
    )
  }
}
