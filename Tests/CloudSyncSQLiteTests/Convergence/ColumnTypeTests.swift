import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Columns whose type is not the same on all devices")
struct ColumnTypeTests {
  private static let query = "SELECT id, typeof(v), v FROM notes ORDER BY id"

  private static func schema(_ type: String) -> String {
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, v \(type))"
  }

  private static func rebuilding(_ type: String) -> String {
    """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, v \(type));
    INSERT INTO fresh SELECT * FROM notes;
    DROP TABLE notes;
    ALTER TABLE fresh RENAME TO notes;
    """
  }

  @Test(
    "A migration that gives a column another type outranks no edit that others had not sent",
    arguments: SuiteSize.pairs(2, ["TEXT", "REAL"], [true, false])
  )
  func conversion(type: String, migratesFirst: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema("INTEGER"), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1), ('b', 2)", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET v = 55 WHERE id = 'a'", at: 2_000)
    try bench.restart(phone, ["notes"], after: Self.rebuilding(type))
    try bench.sync(phone)
    if migratesFirst {
      try bench.restart(mac, ["notes"], after: Self.rebuilding(type))
      try bench.sync(mac)
    } else {
      try bench.sync(mac)
      try bench.restart(mac, ["notes"], after: Self.rebuilding(type))
    }
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT CAST(v AS INTEGER) FROM notes ORDER BY id") == ["55", "2"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "An edit and a deletion after a migration stay when another device has migrated first",
    arguments: [true, false]
  )
  func editedAfterConversion(areThereBefore: Bool) throws {
    let rows = "INSERT INTO notes VALUES('a', 1), ('b', 2), ('c', 3)"
    let schema = Self.schema("INTEGER") + (areThereBefore ? "; \(rows)" : "")
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    if !areThereBefore { try mac.execute(rows, at: 1_000) }
    try bench.sync(mac, phone)
    let migration = Self.rebuilding("TEXT")
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(phone)
    let edits =
      "UPDATE notes SET v = '55' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'"
    try bench.restart(mac, ["notes"], after: "\(migration); \(edits)")
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'text'|'55'", "'c'|'text'|'3'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A default that is a bare word is text, as SQLite takes it")
  func bareWord() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema("TEXT NOT NULL DEFAULT open"),
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes(id) VALUES('a')")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'open'"])
  }

  @Test("What a device edits whose column is of another type is not hidden by the former value")
  func otherType() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema(""), tables: ["notes"])
    let phone = try bench.device("phone", Self.schema("INTEGER"), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1), ('b', 2)", at: 1_000)
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET v = 10 WHERE id = 'a'", at: 2_000)
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.query) == ["'a'|'integer'|10", "'b'|'integer'|2"])

    try mac.execute("UPDATE notes SET v = 11 WHERE id = 'a'", at: 3_000)
    try phone.execute("UPDATE notes SET v = NULL WHERE id = 'b'", at: 3_000)
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.query) == ["'a'|'integer'|11", "'b'|'null'|NULL"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "A migration changes the type of a column: the cloud takes all values, and devices agree",
    arguments: [("INTEGER", "TEXT", "'x'"), ("REAL", "BLOB", "x'00'"), ("TEXT", "INTEGER", "7")]
  )
  func migrated(former: String, type: String, value: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema(former), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1), ('b', 2)")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: Self.rebuilding(type))
    try mac.execute(
      "UPDATE notes SET v = \(value) WHERE id = 'a'; INSERT INTO notes VALUES('c', \(value))"
    )
    try bench.sync(mac, phone)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    try bench.restart(phone, ["notes"], after: Self.rebuilding(type))
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try mac.lines("SELECT count(*) FROM notes WHERE v = \(value)") == ["2"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A copy made anew with another type learns from records what the cloud's fields hold")
  func learnt() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema("INTEGER"), tables: ["notes"])
    let phone = try bench.device("phone", Self.schema("TEXT"), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET v = 'x'; INSERT INTO notes VALUES('b', 'new')")
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == ["'a'|'text'|'x'", "'b'|'text'|'new'"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("It is not refused for long when its first row goes before any record has come")
  func learntAfterRefusal() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema("TEXT"), tables: ["notes"])
    let phone = try bench.device("phone", Self.schema("INTEGER"), tables: ["notes"])
    try bench.sync(phone)
    try mac.execute("INSERT INTO notes VALUES('a', 'x')")
    try bench.sync(mac)
    try phone.execute("INSERT INTO notes VALUES('b', 7)")
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    #expect(try bench.unclean(phone) == [])
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == ["'a'|'text'|'x'", "'b'|'text'|'7'"])
    #expect(try phone.lines("SELECT id, v FROM notes ORDER BY id") == ["'a'|'x'", "'b'|7"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A device whose table lacks a column sends its values so that the cloud takes them")
  func lackingColumn() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema("BLOB"), tables: ["notes"])
    let phone = try bench.device(
      "phone",
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, w TEXT)",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes VALUES('a', x'00'), ('b', 4), ('c', x'01')")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET w = 'x' WHERE id < 'c'")
    try bench.sync(phone, mac)
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
    // In a zone that is made anew the phone is the first.
    mac.engine.stop()
    try bench.deleteZone()
    try bench.sync(phone)
    #expect(try bench.unclean(phone) == [])
    try mac.execute("UPDATE notes SET v = x'02' WHERE id = 'c'")
    try bench.sync(mac, phone)
    let fresh = try bench.device("fresh", Self.schema("BLOB"), tables: ["notes"])
    try bench.sync(fresh)

    let rows = ["'a'|'blob'|x'00'", "'b'|'integer'|4", "'c'|'blob'|x'02'"]
    #expect(try mac.lines(Self.query) == rows)
    #expect(try fresh.lines(Self.query) == rows)
    for device in [mac, phone, fresh] { #expect(try bench.unclean(device) == []) }
  }

  /// The cloud fixes the kinds of fields for all accounts: those of others show in no record of this zone.
  @Test("A device that begins with a new type is not refused for ever where no record shows it")
  func neverShown() throws {
    let bench = SyncHarness()
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, v INTEGER, n INTEGER)"
    let old = try bench.device(
      "old",
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, v TEXT, n TEXT)",
      tables: ["notes"]
    )
    try old.execute("INSERT INTO notes VALUES('a', 'x', 'y')")
    try bench.sync(old)
    old.engine.stop()
    try bench.deleteZone()
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('b', 7, 8), ('c', NULL, 9)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET v = 10 WHERE id = 'b'; INSERT INTO notes VALUES('d', 1, 2)")
    try bench.sync(phone, mac)

    let rows = ["'b'|10|8", "'c'|NULL|9", "'d'|1|2"]
    #expect(try mac.lines("SELECT * FROM notes ORDER BY id") == rows)
    #expect(try phone.lines("SELECT * FROM notes ORDER BY id") == rows)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    // What the cloud's reason does not name stays where others look for it.
    let record = try #require(try bench.record("b:notes"))
    #expect(record["id"] == .string("b") && record["v"] == nil)
    // A device with the former type goes on.
    try bench.restart(old, ["notes"])
    try bench.sync(old)
    try old.execute("UPDATE notes SET v = 'z', n = NULL WHERE id = 'd'")
    try bench.sync(old, mac, phone)
    #expect(try mac.lines("SELECT v, n FROM notes WHERE id = 'd'") == ["'z'|NULL"])
    #expect(try phone.lines("SELECT v, n FROM notes WHERE id = 'd'") == ["'z'|NULL"])
    for device in [old, mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  @Test("Where that is not why the cloud refuses a row, fields stay what they were")
  func refusedForOtherReasons() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema("INTEGER"), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('c', NULL)")
    try bench.sync(mac)
    bench.cloud.options.schemaMode = .frozen
    try mac.execute("INSERT INTO notes VALUES('a', 7), ('b', 8)")
    try bench.sync(mac)
    #expect(try bench.unclean(mac).count == 2)
    bench.cloud.options.schemaMode = .development
    #expect(try mac.engine.retryParked() == 2)
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])
    #expect(try bench.record("a:notes")?["v"] == .int64(7))
  }
}
