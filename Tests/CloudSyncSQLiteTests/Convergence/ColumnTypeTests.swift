import CloudSyncSQLite
import CloudSyncSimulator
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

  @Test("It learns that too when the cloud refuses its first row before any record has come")
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
    #expect(try phone.lines("SELECT status FROM cloudsync_status") == ["'parked'"])
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == ["'a'|'text'|'x'", "'b'|'text'|'7'"])
    #expect(try phone.lines("SELECT id, v FROM notes ORDER BY id") == ["'a'|'x'", "'b'|7"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}
