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

  @Test("A rebuild fills a new column and changes another one: both are sent")
  func filledAndChanged() throws {
    let bench = SyncHarness()
    let wide = "\(Self.schema.dropLast()), c REAL DEFAULT 0.5)"
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let phone = try bench.device("phone", wide, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', NULL)")
    try bench.sync(mac, phone, mac)
    let migration = """
      ALTER TABLE notes RENAME TO old; \(wide);
      INSERT INTO notes SELECT id, title, 7, 2.5 FROM old; DROP TABLE old
      """
    try SyncEngine.withoutCapture(of: ["notes"], in: mac.database) {
      try mac.database.execute(migration)
    }
    try bench.restart(mac, ["notes"])
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'A'|7|2.5"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A row that an edit has kept from being deleted, and that a migration deletes unseen, is gone"
  )
  func keptAndDeleted() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)"
    let (bench, mac, phone) = try SyncHarness.pair(
      "\(Self.schema); \(rows)",
      tables: ["notes"],
      options: options
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET stars = 9 WHERE id = 'a'", at: 1_800_000_000_000)
    try bench.sync(phone)
    try mac.execute("DELETE FROM notes WHERE id = 'a'", at: 1_700_000_000_000)
    for _ in 0..<2 { try bench.sync(mac, phone) }
    #expect(try mac.lines(Self.query) == ["'a'|'A'|9", "'b'|'B'|2"])

    let migration = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);
      INSERT INTO fresh SELECT * FROM notes WHERE id <> 'a'; DROP TABLE notes;
      ALTER TABLE fresh RENAME TO notes
      """
    try bench.restart(mac, ["notes"], options, after: migration)
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'b'|'B'|2"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "Rows that a migration deletes unseen are not sent empty with edits that were not sent yet",
    arguments: [false, true]
  )
  func deletedBeforeSent(isEditedElsewhere: Bool) throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    switchable.isOffline = true
    try mac.execute(
      "UPDATE notes SET stars = 100 WHERE id = 'a'; INSERT INTO notes VALUES('c', 'C', 3)"
    )
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    #expect(try mac.lines("SELECT count(*) FROM cloudsync_pending") == ["2"])
    mac.engine.stop()
    switchable.isOffline = false
    try mac.execute(
      """
      DROP TABLE notes;
      \(Self.schema);
      INSERT INTO notes VALUES('b', 'B', 2);
      """
    )
    if isEditedElsewhere {
      try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
      try bench.sync(phone)
    }
    mac.engine = try Self.engine(bench, mac.database, switchable)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'b'|'B'|2"])
    #expect(try phone.lines(Self.query) == ["'b'|'B'|2"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "What a migration has changed unseen is sent with what was captured, once a fetch has told what the cloud has"
  )
  func comparedBeforeSent() throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    let before = try phone.lines(Self.query)
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
    #expect(try phone.lines(Self.query) == before)
    switchable.failsFetches = false
    bench.world.advance(by: .seconds(600))
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query).first == "'a'|'unseen'|100")
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("What is added to a counter while nobody captures is counted", arguments: [false, true])
  func counterUnseen(isSent: Bool) throws {
    let switchable = SwitchedHandler()
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["stars"] = .counter
    let (bench, mac, phone) = try Self.pair(mac: switchable, options)
    if !isSent { switchable.isOffline = true }
    try mac.execute(
      "UPDATE notes SET stars = stars + 10 WHERE id = 'a'; INSERT INTO notes VALUES('c', 'C', 3)"
    )
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    mac.engine.stop()
    switchable.isOffline = false
    try mac.execute(
      """
      CREATE TEMP TABLE held AS SELECT * FROM notes;
      DROP TABLE notes;
      \(Self.schema);
      INSERT INTO notes SELECT * FROM held;
      UPDATE notes SET stars = stars + 100;
      """
    )
    try phone.execute("UPDATE notes SET stars = stars + 1000 WHERE id = 'a'")
    try bench.sync(phone)
    mac.engine = try Self.engine(bench, mac.database, switchable, options)
    mac.listen()
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = ["'a'|'A'|1111", "'b'|'B'|102", "'c'|'C'|103"]
    #expect(try mac.lines(Self.query) == rows)
    let found = try phone.lines(Self.query)
    #expect(found == rows)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A row that is deleted unseen is missed, although another one has come back unseen")
  func deletedBesideReturned() throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    mac.engine.stop()
    try mac.execute(
      """
      DELETE FROM notes WHERE id = 'a';
      DROP TABLE notes;
      \(Self.schema);
      INSERT INTO notes VALUES('a', 'again', 1);
      """
    )
    mac.engine = try Self.engine(bench, mac.database, switchable)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'again'|1"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
  }

  @Test("A value that becomes its column's default while nobody captures is sent")
  func defaultUnseen() throws {
    let switchable = SwitchedHandler()
    let (bench, mac, phone) = try Self.pair(mac: switchable)
    mac.engine.stop()
    try mac.execute(
      """
      DROP TABLE notes;
      \(Self.schema);
      INSERT INTO notes VALUES('a', NULL, 1), ('b', 'B', 2);
      """
    )
    mac.engine = try Self.engine(bench, mac.database, switchable)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|NULL|1", "'b'|'B'|2"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
  }

  @Test("Where edits win, whoever has dropped a column and deletes a row has seen it whole")
  func deletedAfterDrop() throws {
    let switchable = SwitchedHandler()
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let (bench, mac, phone) = try Self.pair(mac: switchable, options)
    try phone.execute("UPDATE notes SET stars = 7 WHERE id = 'b'")
    try bench.sync(phone, mac)
    mac.engine.stop()
    switchable.isOffline = true
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    try mac.engine.start()
    bench.world.advance(by: .seconds(1))
    mac.engine.stop()
    switchable.isOffline = false
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
    mac.engine = try Self.engine(bench, mac.database, switchable, options)
    mac.listen()
    try mac.execute("DELETE FROM notes")
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM notes") == [])
    #expect(try phone.lines("SELECT * FROM notes") == [])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  // MARK: Devices

  private static func pair(
    mac handler: SwitchedHandler,
    _ options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    handler.base = bench.cloud.connect(
      device: "mac",
      account: AccountIdentity("owner"),
      zoneID: bench.zoneID
    )
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(schema)
    let mac = SyncHarness.Device("mac", database, try engine(bench, database, handler, options))
    let phone = try bench.device("phone", schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private static func engine(
    _ bench: SyncHarness,
    _ database: DatabaseFile,
    _ handler: SwitchedHandler,
    _ options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> SyncEngine {
    var options = options
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
