import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A database with a history, and a clock that the test turns.
final class HistoryBench: Sendable {
  let database: DatabaseFile
  let repository: ChangesetRepository
  private let seconds: Locked<Int64>

  /// The table of most tests.
  static let people = """
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note);
    """

  init(
    _ schema: String = HistoryBench.people,
    path: String = ":memory:",
    replica: String = "desk",
    tables: [String]? = nil,
    settings: [String: ChangesetOptions.Table] = [:],
    startingAt start: Int64 = 1_760_000_000
  ) throws {
    database = try DatabaseFile(path: path, createsFile: true)
    try database.execute(schema)
    let seconds = Locked(start)
    self.seconds = seconds
    repository = try ChangesetRepository(
      database,
      tables: tables,
      options: Self.options(replica: replica, settings: settings, seconds: seconds)
    )
  }

  static func options(
    replica: String = "desk",
    settings: [String: ChangesetOptions.Table] = [:],
    seconds: Locked<Int64> = Locked(1_760_000_000)
  ) -> ChangesetOptions {
    var environment = SyncEnvironment.live
    environment.now = { @Sendable in
      Timestamp(nanoseconds: seconds.withLock { $0 } * 1_000_000_000)
    }
    let count = Locked<UInt64>(0)
    environment.nonce = { @Sendable in
      count.withLock {
        $0 += 1
        return $0
      }
    }
    return ChangesetOptions(replica: replica, tables: settings, environment: environment)
  }

  func pass(seconds count: Int64) { seconds.withLock { $0 += count } }

  @discardableResult
  func commit(_ sql: String, meta: String = "{}") throws -> Changeset? {
    pass(seconds: 1)
    try database.execute(sql)
    return try repository.commit(meta: meta)
  }

  /// The rows of a query, each as its literals with commas between.
  func rows(_ sql: String) throws -> [String] { try database.rows(sql) }
}

extension SyncDatabase {
  func rows(_ sql: String) throws -> [String] {
    try write { handle in
      let connection = SQLiteConnection(borrowing: handle)
      let statement = try connection.prepare(sql)
      return try statement.mapRows { row in
        (0..<row.columnCount).map { row.value($0).literal }.joined(separator: ", ")
      }
    }
  }
}

extension RowChange {
  /// The change in one line.
  var text: String {
    let key = key.map { "\($0.column?.literal ?? "?")" }.joined(separator: ", ")
    let cells = cells.map {
      "\($0.column): \($0.old.column?.literal ?? "?") → \($0.new.column?.literal ?? "?")"
    }
    return "\(kind) \(table) \(key) [\(cells.joined(separator: ", "))]"
  }
}

/// A folder that goes with the value.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    path = try TemporaryFolder.make()
  }

  deinit { TemporaryFolder.remove(path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }
}
