import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Migrations while edits are not sent yet")
struct UnseenEditTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT id, title, stars FROM notes ORDER BY id"

  @Test("A column that is added beside a new table keeps the value that others have given it")
  func addedBesideTable() throws {
    let bench = SyncHarness()
    let wide =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, tag TEXT)"
    let mac = try bench.device("mac", wide, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 'theirs')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try bench.restart(
      phone,
      ["notes", "lists"],
      after: """
        UPDATE notes SET stars = 2;
        ALTER TABLE notes ADD COLUMN tag TEXT;
        CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT);
        """
    )
    try bench.sync(phone, mac)

    let rows = try mac.lines("SELECT * FROM notes")
    #expect(rows == ["'a'|'A'|2|'theirs'"])
    #expect(try phone.lines("SELECT * FROM notes") == rows)
  }

  @Test("An edit of a column that is dropped before it was sent leaves nothing to send")
  func droppedBeforeSent() throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    switchable.isOffline = true
    try mac.execute("UPDATE notes SET stars = 100 WHERE id = 'a'")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    #expect(try mac.lines("SELECT record_name FROM cloudsync_pending") == ["'a:notes'"])
    mac.engine.stop()
    switchable.isOffline = false
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
    mac.engine = try Self.engine(bench, mac.database, switchable)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    #expect(try phone.lines(Self.query).first == "'a'|'A'|1")
  }

  @Test(
    "What a migration has changed unseen is sent, although the row is sent before it is compared"
  )
  func sentBeforeCompared() throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    mac.engine.stop()
    try mac.execute(
      """
      UPDATE notes SET stars = 100 WHERE id = 'a';
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);
      INSERT INTO fresh SELECT * FROM notes;
      DROP TABLE notes;
      ALTER TABLE fresh RENAME TO notes;
      UPDATE notes SET title = 'unseen' WHERE id = 'a';
      """
    )
    switchable.failsFetches = true
    mac.engine = try Self.engine(bench, mac.database, switchable)
    mac.listen()
    try mac.engine.start()
    bench.world.advance(by: .seconds(5))
    phone.engine.fetchChanges()
    bench.world.advance(by: .seconds(5))
    #expect(try phone.lines(Self.query).first == "'a'|'A'|100")
    switchable.failsFetches = false
    bench.world.advance(by: .seconds(600))
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query).first == "'a'|'unseen'|100")
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  // MARK: Devices

  private static func pair(
    mac handler: SwitchedHandler
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    handler.base = bench.cloud.connect(
      device: "mac",
      account: AccountIdentity("owner"),
      zoneID: bench.zoneID
    )
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(schema)
    let mac = SyncHarness.Device("mac", database, try engine(bench, database, handler))
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private static func engine(
    _ bench: SyncHarness,
    _ database: DatabaseFile,
    _ handler: SwitchedHandler
  ) throws -> SyncEngine {
    var options = SyncEngineOptions()
    options.captureClock = .fixed
    return try SyncEngine(
      database: database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      options: options,
      environment: bench.world.environment
    )
  }
}

/// A handler whose network can be switched off.
private final class SwitchedHandler: WorkHandler {
  private struct State {
    var base: (any OperationHandler)?
    var isOffline = false
    var failsFetches = false
  }

  private let state = Locked(State())

  var base: (any OperationHandler)? {
    get { state.withLock { $0.base } }
    set { state.withLock { $0.base = newValue } }
  }

  var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// Whether whatever is fetched meets a zone that is busy.
  var failsFetches: Bool {
    get { state.withLock { $0.failsFetches } }
    set { state.withLock { $0.failsFetches = newValue } }
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if isOffline { return completion(.failure(SyncError(.networkUnavailable))) }
    if failsFetches, case .fetch = work { return completion(.failure(SyncError(.zoneBusy))) }
    guard let base else { return completion(.failure(SyncError(.internalError))) }
    base.perform(work, context: context, completion: completion)
  }
}
