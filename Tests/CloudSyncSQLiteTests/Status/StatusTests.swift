import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("The status of records")
struct StatusTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT
    );
    CREATE TABLE marks(a INTEGER NOT NULL, b TEXT NOT NULL, c, PRIMARY KEY(a, b)) WITHOUT ROWID;
    """
  private static let tables = ["lists", "notes", "marks"]

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(Self.schema, tables: Self.tables)
  }

  @Test("A row is dirty with its edit, in flight on its way, and clean when the cloud has it")
  func life() throws {
    let (bench, mac, _) = try pair()
    #expect(try mac.engine.status(of: .string("a"), in: "notes") == nil)

    try bench.sync(mac)
    try mac.execute("INSERT INTO notes(id) VALUES('a'); INSERT INTO marks VALUES(1, 'x', 0)")
    #expect(try mac.engine.status(of: .string("a"), in: "NOTES") == .dirty)
    #expect(try mac.engine.status(of: .int64(1), .string("x"), in: "marks") == .dirty)

    try bench.cloud.setAccountStatus(.temporarilyUnavailable, account: AccountIdentity("owner"))
    try bench.sync(mac)
    #expect(try mac.engine.status(of: .string("a"), in: "notes") == .inFlight)
    #expect(try SyncMetadata.read(from: mac.database)?.counts.pending == 2)
    try bench.cloud.setAccountStatus(.available, account: AccountIdentity("owner"))
    mac.engine.session?.accountDidChange()
    mac.engine.session?.start()
    bench.world.advance(by: .seconds(900))
    try bench.sync(mac)
    #expect(try mac.engine.status(of: .string("a"), in: "notes") == .clean)
    #expect(try mac.engine.status(of: .int64(1), .string("x"), in: "marks") == .clean)

    try mac.execute("DELETE FROM notes")
    #expect(try mac.engine.status(of: .string("a"), in: "notes") == .dirty)
    try bench.sync(mac)
    #expect(try mac.engine.status(of: .string("a"), in: "notes") == nil)
  }

  @Test("A key or table that is none is an error that says so")
  func wrongKeys() throws {
    let (_, mac, _) = try pair()
    let missing = #expect(throws: SyncEngineError.self) {
      try mac.engine.status(of: .string("a"), in: "none")
    }
    #expect(missing?.reason.contains("\"none\" is not synchronized") == true)
    let short = #expect(throws: SyncEngineError.self) {
      try mac.engine.status(of: .int64(1), in: "marks")
    }
    #expect(short?.reason.contains("has 2 columns (a, b), and 1 values were given") == true)
    let foreign = #expect(throws: SyncEngineError.self) {
      try mac.engine.status(of: .timestamp(Timestamp(nanoseconds: 0)), in: "notes")
    }
    #expect(foreign?.reason.contains("a timestamp cannot be a value") == true)
  }

  @Test("What an engine has noted can be read without one")
  func metadata() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'l', 'Tea')")
    try bench.sync(mac)
    // Of two tables, one is not here.
    try mac.execute(
      "INSERT INTO notes VALUES('b', 'l', 'Cup'); INSERT INTO marks VALUES(2, 'é', 0)"
    )
    try mac.execute("INSERT INTO notes VALUES('c', 'l', NULL); DELETE FROM notes WHERE id = 'c'")

    let metadata = try #require(try SyncMetadata.read(from: mac.database))
    #expect(metadata.tables.map(\.name).sorted() == ["lists", "marks", "notes"])
    #expect(metadata.tables.first { $0.name == "notes" }?.columns == ["id", "list", "title"])
    #expect(metadata.tables.first { $0.name == "notes" }?.counts.clean == 1)
    #expect(metadata.tables.first { $0.name == "notes" }?.counts.dirty == 2)
    // A row that was inserted and deleted goes as a tombstone: somebody may have seen it.
    #expect(metadata.counts.pending == 3 && metadata.counts.clean == 2)
    #expect(metadata.lastSync.map { $0 <= bench.world.now } == true)
    #expect(try SyncMetadata.read(from: phone.database)?.lastSync == nil)

    try mac.engine.tearDown()
    #expect(try SyncMetadata.read(from: mac.database) == nil)
  }

  @Test("Metadata of a newer version is not read, and can be told from none")
  func newerVersion() throws {
    let (_, mac, _) = try pair()
    try mac.database.execute("UPDATE cloudsync_info SET value = 99 WHERE key = 'version'")
    let error = #expect(throws: SyncEngineError.self) { try SyncMetadata.read(from: mac.database) }
    #expect(error?.code == .newerVersion)
  }

  @Test("Metadata is removed without an engine, and the rows stay")
  func remove() throws {
    let (bench, mac, _) = try pair()
    try mac.execute("INSERT INTO lists VALUES('l', 'L')")
    try bench.sync(mac)
    mac.engine.stop()
    try SyncMetadata.remove(from: mac.database)

    #expect(try mac.lines("SELECT * FROM lists") == ["'l'|'L'"])
    #expect(try mac.lines("SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'") == [])
  }

  // MARK: Parked records

  @Test(
    "A record that the database refuses is parked with its reason, and stored when it is tried again"
  )
  func refusedHere() throws {
    let (bench, mac, phone) = try pair()
    try phone.execute(
      """
      CREATE TABLE forbidden(title TEXT); INSERT INTO forbidden VALUES('Tea');
      CREATE TRIGGER guard BEFORE INSERT ON lists
      WHEN new.title IN (SELECT title FROM forbidden)
      BEGIN SELECT RAISE(ABORT, 'no tea here'); END
      """
    )
    try mac.execute("INSERT INTO lists VALUES('l', 'Tea'), ('m', 'Cup')")
    try bench.sync(mac, phone)

    let parked = try #require(try SyncMetadata.read(from: phone.database)).parked
    #expect(parked.map(\.key) == ["'l'"] && parked.map(\.table) == ["lists"])
    guard case .parked(_, let reason)? = try phone.engine.status(of: .string("l"), in: "lists")
    else {
      Issue.record("it is not parked")
      return
    }
    #expect(reason.contains("no tea here"))
    #expect(try phone.lines("SELECT id FROM lists") == ["'m'"])

    try phone.execute("DELETE FROM forbidden")
    #expect(try phone.engine.retryParked(in: "notes") == 0)
    #expect(try phone.engine.retryParked(in: "lists", keys: [[.string("m")], [.string("l")]]) == 1)
    try bench.sync(phone)
    #expect(try phone.lines("SELECT * FROM lists ORDER BY id") == mac.lines("SELECT * FROM lists"))
    #expect(try bench.unclean(phone) == [] && SyncMetadata.read(from: phone.database)?.parked == [])
  }

  @Test("A record that the cloud refuses is parked, and sent when it is tried again, also stopped")
  func refusedThere() throws {
    for isStopped in [false, true] {
      let (bench, mac, phone) = try pair()
      let owner = AccountIdentity("owner")
      try mac.execute("INSERT INTO lists VALUES('l', 'List')")
      try bench.sync(mac)
      try bench.cloud.setQuota(1, account: owner)
      try mac.execute("INSERT INTO notes VALUES('a', 'l', 'Tea')")
      try bench.sync(mac)
      #expect(try SyncMetadata.read(from: mac.database)?.parked.map(\.recordName) == ["a:notes"])

      try bench.cloud.setQuota(nil, account: owner)
      if isStopped { mac.engine.stop() }
      #expect(try mac.engine.retryParked() == 1)
      try bench.sync(mac, phone)
      #expect(try phone.lines("SELECT id FROM notes") == ["'a'"])
      #expect(try bench.unclean(mac) == [])
      #expect(mac.engine.session?.state.parkedRecords.isEmpty == true)
    }
  }
}
