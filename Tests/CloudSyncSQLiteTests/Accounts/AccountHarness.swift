import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// A database on a device whose user signs in and out.
final class AccountHarness {
  static let schema = """
    CREATE TABLE lists(
      id TEXT PRIMARY KEY NOT NULL, title TEXT,
      parent TEXT REFERENCES lists(id) ON DELETE RESTRICT
    );
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE RESTRICT, title TEXT
    );
    CREATE TABLE local(id INTEGER PRIMARY KEY, note TEXT);
    """
  static let tables = ["lists", "notes"]
  static let titles = "SELECT id, title FROM notes ORDER BY id"

  let bench = SyncHarness()
  let connection: LocalCloudConnection
  let database: DatabaseFile
  var engine: SyncEngine
  private let options: SyncEngineOptions
  let errors = Locked<[String]>([])
  let questions = Locked<[SyncQuestion]>([])

  init(
    account: String? = "anna",
    setUp: String = "",
    options: SyncEngineOptions = SyncEngineOptions()
  ) throws {
    connection = bench.cloud.connect(
      device: "mac",
      account: AccountIdentity("anna"),
      zoneID: bench.zoneID
    )
    connection.signIn(account.map { AccountIdentity($0) })
    var options = options
    options.accountProvider = connection.accountStatus
    self.options = options
    database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema + setUp)
    engine = try Self.engine(database, connection, bench, options)
    listen()
  }

  private static func engine(
    _ database: DatabaseFile,
    _ connection: LocalCloudConnection,
    _ bench: SyncHarness,
    _ options: SyncEngineOptions
  ) throws -> SyncEngine {
    try SyncEngine(
      database: database,
      tables: tables,
      zoneID: bench.zoneID,
      operationHandler: connection,
      options: options,
      environment: bench.world.environment
    )
  }

  private func listen() {
    engine.errors.sink { [errors] error in errors.withLock { $0.append(error.description) } }
    engine.questions.sink { [questions] question in
      questions.withLock { $0.append(question) }
    }
  }

  /// Ends the process, and begins a new one.
  func restart() throws {
    engine.stop()
    engine = try Self.engine(database, connection, bench, options)
    listen()
    try sync()
  }

  func sync() throws {
    if !engine.isRunning { try engine.start() }
    for _ in 0..<2 {
      engine.sendChanges()
      engine.fetchChanges()
      bench.world.advance(by: .seconds(1_200))
    }
  }

  /// Somebody signs in, or out.
  func signIn(_ account: String?) throws {
    connection.signIn(account.map { AccountIdentity($0) })
    engine.accountDidChange()
    bench.world.advance(by: .seconds(30))
  }

  func lines(_ sql: String) throws -> [String] { try database.lines(sql) }

  /// The names of the records that an account has.
  func records(_ account: String) throws -> [String] {
    try bench.cloud.records(account: AccountIdentity(account), zone: bench.zoneID).filter(\.isRow)
      .map(\.recordID.name)
  }
}
