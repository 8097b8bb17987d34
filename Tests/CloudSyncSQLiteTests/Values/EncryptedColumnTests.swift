import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import Testing

@Suite("Encrypted columns")
struct EncryptedColumnTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, secret TEXT, number INTEGER)
    """
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.encryptedColumns = ["Secret", "number", "of_another_table"]
    return options
  }

  private func pair() throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    try SyncHarness.pair(Self.schema, tables: ["notes"], options: Self.options)
  }

  @Test("Whatever is saved of them is encrypted, also where it lies aside, and nothing else is")
  func encrypts() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 's', 1), ('b', 'B', NULL, 'no number')")
    try bench.sync(mac, phone)
    #expect(try bench.record("a:notes")?.encryptedKeys == ["number", "secret"])
    #expect(try bench.record("b:notes")?.encryptedKeys == ["cloudsync_value_number"])
    // A row out of the ordinary, and one by one.
    try phone.execute("UPDATE notes SET secret = x'00ff', title = 'C' WHERE id = 'a'", at: 5)
    try phone.execute("UPDATE notes SET number = NULL WHERE id = 'b'", at: 5)
    try bench.sync(phone, mac)
    #expect(
      try bench.record("a:notes")?.encryptedKeys == ["cloudsync_value_secret", "number"]
    )
    #expect(try bench.record("b:notes")?.encryptedKeys == [])
    let rows = "SELECT id, title, hex(secret), number FROM notes ORDER BY id"
    #expect(try mac.lines(rows) == ["'a'|'C'|'00FF'|1", "'b'|'B'|''|NULL"])
    #expect(try bench.unclean(mac) + bench.unclean(phone) == [])
  }

  @Test("They stay encrypted when the app does not say it any more, also in a zone made anew")
  func staysSo() throws {
    let (bench, mac, _) = try pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 's', 1)")
    try bench.sync(mac)
    try bench.restart(mac, ["notes"])
    try mac.execute("UPDATE notes SET secret = 't', title = 'B'", at: 5)
    try mac.execute("INSERT INTO notes VALUES('b', 'B', 's', 'text')", at: 5)
    try bench.sync(mac)
    #expect(try bench.record("a:notes")?.encryptedKeys == ["number", "secret"])
    #expect(
      try bench.record("b:notes")?.encryptedKeys == ["cloudsync_value_number", "secret"]
    )
    try bench.deleteZone()
    try mac.execute("UPDATE notes SET title = 'C'", at: 9)
    try bench.sync(mac)
    #expect(try bench.record("a:notes")?.encryptedKeys == ["number", "secret"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("A device that was never told learns it from the records, also of columns that it lacks")
  func learns() throws {
    let (bench, mac, _) = try pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 's', 1), ('b', 'B', 's', 2)")
    try bench.sync(mac)
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, number INTEGER)"
    let old = try bench.device("old", schema, tables: ["notes"])
    try bench.sync(old)
    try old.execute("UPDATE notes SET number = 'text', title = 'C' WHERE id = 'a'", at: 5)
    try old.execute("INSERT INTO notes VALUES('c', 'C', 3)", at: 5)
    try bench.sync(old, mac)
    #expect(
      try bench.record("a:notes")?.encryptedKeys == ["cloudsync_value_number", "secret"]
    )
    #expect(try bench.record("c:notes")?.encryptedKeys == ["number"])
    // The record is made anew by who knows nothing of the column.
    mac.engine.stop()
    try bench.deleteZone()
    try bench.sync(old)
    let record = try #require(try bench.record("a:notes"))
    let plain = record.fields.map(\.name).filter { !record.encryptedKeys.contains($0) }
    #expect(plain == ["cloudsync_clock", "id", "title"])
    #expect(record.encryptedKeys.contains { $0.hasSuffix("secret") })
    #expect(try bench.unclean(old) == [])
    try bench.sync(mac)
    #expect(try mac.lines("SELECT * FROM notes WHERE id = 'a'") == ["'a'|'C'|'s'|'text'"])
  }

  @Test("Where the cloud knows a column in plain, what is edited since lies aside, encrypted")
  func late() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 's', 1), ('b', 'B', 's', 1)")
    try bench.sync(mac, phone)
    try bench.restart(phone, ["notes"], Self.options)
    try phone.execute("UPDATE notes SET secret = 't' WHERE id = 'a'", at: 5)
    try bench.sync(phone, mac)
    let record = try #require(try bench.record("a:notes"))
    #expect(record.encryptedKeys == ["cloudsync_value_secret"] && record["secret"] == nil)
    #expect(try bench.record("b:notes")?["secret"] == .string("s"))
    try mac.execute("UPDATE notes SET secret = 'u', title = 'C' WHERE id = 'a'", at: 9)
    try bench.sync(mac, phone)
    #expect(try bench.record("a:notes")?.encryptedKeys == ["cloudsync_value_secret"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'C'|'u'|1", "'b'|'B'|'s'|1"])
    #expect(try bench.unclean(mac) + bench.unclean(phone) == [])
  }

  @Test("Columns that everybody has to read cannot be encrypted")
  func refused() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    var options = Self.options
    options.tables["notes"] = SyncEngineOptions.Table()
    options.tables["notes"]?.encryptedColumns = ["ID", "none", "number", "secret", "title"]
    options.tables["notes"]?.localColumns = ["title"]
    options.tables["notes"]?.merging.columns["Number"] = .counter
    let violations = try SyncEngine.check(database, tables: ["notes"], options: options)
      .filter { $0.code == .encryptedColumn }
    #expect(violations.map(\.column) == ["ID", "none", "number", "title"])
    #expect(violations.allSatisfy { !$0.isWarning })
  }
}
