import CloudSyncGRDB
import CloudSyncSQLite
import CloudSyncSession
import GRDB

/// A database of GRDB's that is kept in sync with a cloud.
struct Device: Sendable {
  let name: String
  /// Where the app reads and writes, as if there were no engine.
  let writer: any DatabaseWriter
  let engine: SyncEngine
  private let following: AnyDatabaseCancellable

  /// Migrates a database, and prepares it for the engine; `engine.start()` then begins.
  init(
    _ name: String,
    _ writer: any DatabaseWriter,
    cloud: any OperationHandler,
    environment: SyncEnvironment = .live,
    onError: @escaping @Sendable (any Error) -> Void
  ) throws {
    self.name = name
    self.writer = writer
    try Shopping.migrator.migrate(writer)
    engine = try SyncEngine(
      database: GRDBDatabase(writer: writer),
      tables: Shopping.tables,
      zoneID: Self.zoneID,
      operationHandler: cloud,
      environment: environment
    )
    engine.errors.sink { onError($0) }
    following = engine.follow(Shopping.tables, in: writer, onError: onError)
  }

  static let zoneID = ZoneID(name: "Shopping")

  /// All rows, a line each, in the order of what they say.
  func lines() throws -> [String] {
    try writer.read { db in
      let lists = try ShoppingList.order { [$0.title, $0.id] }.fetchAll(db)
      return try lists.flatMap { list in
        let items = try Item.filter { $0.listID == list.id }
          .order { [$0.title, $0.id] }.fetchAll(db)
        return [list.title]
          + items.map { "  [\($0.isDone ? "x" : " ")] \($0.amount) \($0.title)" }
      }
    }
  }
}
