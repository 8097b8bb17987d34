import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Columns that become local, or are synchronized later")
struct LocalColumnChangeTests {
  private static let schema = LocalColumnTests.schema
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.tables["notes"] = SyncEngineOptions.Table()
    options.tables["notes"]?.localColumns = ["height", "seen"]
    return options
  }

  @Test("What was synchronized stays in the cloud when a column becomes local on one device")
  func becomesLocal() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 0)", at: 1)
    try bench.sync(mac, phone)
    // The last edit before is still sent.
    mac.engine.stop()
    try mac.execute("UPDATE notes SET title = 'B'", at: 2)
    try bench.restart(mac, ["notes"], Self.options, after: "UPDATE notes SET height = 2")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'B'|1.0|0"])
    let tags = try bench.cloudTags()
    try mac.execute("UPDATE notes SET height = 3", at: 4)
    try bench.sync(mac)
    #expect(try bench.cloudTags() == tags)
    try phone.execute("UPDATE notes SET height = 5", at: 5)
    try bench.sync(phone, mac)
    try mac.execute("UPDATE notes SET title = 'C'", at: 6)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'C'|5.0|0"])
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'C'|3.0|0"])
    // A new device gets what the cloud has.
    let tab = try bench.device("tab", Self.schema, tables: ["notes"])
    try bench.sync(tab)
    #expect(try tab.lines("SELECT * FROM notes") == ["'a'|'C'|5.0|0"])
  }

  @Test(
    "A column that is synchronized later is equal everywhere, and one device's values are not lost"
  )
  func becomesSynchronized() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 0), ('b', 'B', NULL, 7)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET height = 2 WHERE id = 'a'", at: 2)
    try bench.restart(mac, ["notes"])
    try bench.restart(phone, ["notes"])
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'A'|2.0|0", "'b'|'B'|NULL|7"],
        "\(device.name)"
      )
    }
    try phone.execute("UPDATE notes SET height = 9", at: 5)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT height FROM notes") == ["9.0", "9.0"])
  }

  @Test("An engine that starts again finds nothing changed, and reads the schema no more than once")
  func isStable() throws {
    let (bench, mac, _) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try bench.sync(mac)
    let version = try mac.lines("PRAGMA schema_version")
    try bench.restart(mac, ["notes"], Self.options)
    try bench.sync(mac)
    #expect(try mac.lines("PRAGMA schema_version") == version)
    // A column that was captured before must not make each start another one.
    try bench.restart(mac, ["notes"])
    try bench.restart(mac, ["notes"], Self.options)
    let later = try mac.lines("PRAGMA schema_version")
    try bench.restart(mac, ["notes"], Self.options)
    #expect(try mac.lines("PRAGMA schema_version") == later)
    #expect(try mac.lines("SELECT 1 FROM cloudsync_outbox") == [])
  }

  @Test("Verifying and dry runs ignore local columns")
  func verification() async throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 0)", at: 1)
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET height = 4, seen = 2", at: 2)
    #expect(try phone.lines("SELECT 1 FROM cloudsync_outbox") == [])
    phone.engine.stop()
    #expect(try await phone.engine.dryRun().isEmpty)
    #expect(try await phone.engine.verify().differences == [])
    try phone.execute("UPDATE notes SET title = 'B', seen = 3", at: 3)
    #expect(try await phone.engine.dryRun().sent.map(\.action) == [.update(columns: ["title"])])
  }

  @Test("A migration may add, drop and rename local columns")
  func migrations() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 4)", at: 1)
    try bench.sync(mac, phone)
    let tags = try bench.cloudTags()
    var options = Self.options
    options.tables["notes"]?.localColumns = ["size", "opened"]
    try bench.restart(
      mac,
      ["notes"],
      options,
      after: """
        ALTER TABLE notes RENAME COLUMN height TO size;
        ALTER TABLE notes DROP COLUMN seen;
        ALTER TABLE notes ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;
        UPDATE notes SET opened = 3
        """
    )
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'A'|1.0|3"])
    #expect(try bench.cloudTags() == tags)
    try phone.execute("UPDATE notes SET title = 'B'", at: 3)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'B'|1.0|3"])
  }
}
