import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Foundation

/// A database in a file whose process may die between the commits of its two files.
///
/// SQLite commits the database first, and then what is attached. So a death between the two leaves the
/// database as it is after a block, and the attached file as it was before.
final class FragileDatabase: SyncDatabase {
  let path: String
  let metadataPath: String
  private let state = Locked<(file: DatabaseFile?, dying: Int?)>((nil, nil))

  struct Died: Error {}

  init(path: String, metadataPath: String, schema: String) throws {
    self.path = path
    self.metadataPath = metadataPath
    let file = try DatabaseFile(path: path, createsFile: true)
    try file.execute(schema)
    state.withLock { $0.file = file }
  }

  var file: DatabaseFile {
    get throws {
      if let file = state.withLock({ $0.file }) { return file }
      let file = try DatabaseFile(path: path)
      state.withLock { $0.file = file }
      return file
    }
  }

  /// Has the process die at so many writes from now.
  func die(after writes: Int?) { state.withLock { $0.dying = writes } }

  /// Whether the process is dead.
  var isDead: Bool { state.withLock { $0.dying.map { $0 < 0 } ?? false } }

  /// Closes the connection; the next use opens it again.
  func close() { state.withLock { $0.file = nil } }

  func execute(_ sql: String) throws { try file.execute(sql) }

  func lines(_ sql: String) throws -> [String] { try file.lines(sql) }

  func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    let isDead = state.withLock { state -> Bool in
      guard let left = state.dying else { return false }
      state.dying = left - 1
      return left < 0
    }
    if isDead { throw Died() }
    let isDying = state.withLock { $0.dying == -1 }
    guard isDying else { return try file.write(body) }
    let before = try copyOfMetadata()
    let result = Result { try file.write(body) }
    close()
    try restore(before)
    _ = try result.get()
    throw Died()
  }

  private func copyOfMetadata() throws -> Data? {
    guard FileManager.default.fileExists(atPath: metadataPath) else { return nil }
    try file.write { handle in
      let connection = SQLiteConnection(borrowing: handle)
      let isAttached = try connection.integer(
        "SELECT count(*) FROM pragma_database_list WHERE name = 'cloudsync_metadata'"
      )
      if isAttached == 1 {
        try connection.execute("PRAGMA cloudsync_metadata.wal_checkpoint(TRUNCATE)")
      }
    }
    return try Data(contentsOf: URL(fileURLWithPath: metadataPath))
  }

  private func restore(_ data: Data?) throws {
    for suffix in ["", "-wal", "-shm"] {
      let file = metadataPath + suffix
      if FileManager.default.fileExists(atPath: file) {
        try FileManager.default.removeItem(atPath: file)
      }
    }
    if let data { try data.write(to: URL(fileURLWithPath: metadataPath)) }
  }
}

/// Sends nothing for a process that is dead.
final class KillableHandler: WorkHandler {
  private let handler: any OperationHandler
  private let database: FragileDatabase

  init(_ handler: any OperationHandler, _ database: FragileDatabase) {
    self.handler = handler
    self.database = database
  }

  var limits: RequestLimits { handler.limits }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if database.isDead { return }
    handler.perform(work, context: context, completion: completion)
  }
}
