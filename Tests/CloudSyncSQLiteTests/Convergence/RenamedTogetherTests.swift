import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("A table and its columns are renamed in one go")
struct RenamedTogetherTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0)
    """

  private static func rebuilding(_ key: String, _ rest: String) -> String {
    """
    CREATE TABLE fresh(\(key) TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER NOT NULL DEFAULT 0\(rest));
    INSERT INTO fresh(\(key), name, n) SELECT id, title, n FROM notes;
    DROP TABLE notes; ALTER TABLE fresh RENAME TO items
    """
  }

  @Test(
    "Rows keep what was not sent, and nothing counts twice",
    arguments: SuiteSize.pairs(
      2,
      [
        ("id", "ALTER TABLE notes RENAME TO items; ALTER TABLE items RENAME COLUMN title TO name"),
        ("id", "ALTER TABLE notes RENAME COLUMN title TO name; ALTER TABLE notes RENAME TO items"),
        ("id", rebuilding("id", "")), ("key", rebuilding("key", "")),
        ("id", rebuilding("id", ", z TEXT DEFAULT 'z'")),
      ],
      [(true, true), (true, false), (false, true), (false, false)]
    )
  )
  func edits(migration: (key: String, sql: String), order: (isFirst: Bool, isRead: Bool)) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: options
    )
    try mac.execute(
      "INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B'), ('c', 'C')",
      at: 1_700_000_000_000
    )
    try bench.sync(mac, phone)
    // Before the migration one device has edited rows, and an engine has read that or not.
    phone.engine.stop()
    try phone.execute(
      "UPDATE notes SET title = 'A2', n = n + 2 WHERE id = 'a'; DELETE FROM notes WHERE id = 'c'",
      at: 1_700_000_100_000
    )
    if order.isRead { try bench.restart(phone, ["notes"], options) }
    for device in order.isFirst ? [mac, phone] : [phone, mac] {
      try bench.restart(device, ["items"], options, after: migration.sql)
      try bench.sync(device)
      if device === mac { try mac.execute("UPDATE items SET n = n + 5", at: 1_700_000_200_000) }
    }
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      let rows = try device.lines("SELECT \(migration.key), name, n FROM items ORDER BY 1")
      #expect(rows.first == "'a'|'A2'|7", "\(device.name)")
      #expect(rows.contains("'b'|'B'|5") && rows.count == 2, "\(device.name): \(rows)")
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudNames().filter { $0.hasSuffix(":items") } == ["a:items", "b:items"])
  }

  @Test("Another table of the same shape that comes when one goes is another one")
  func another() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    let migration = """
      DROP TABLE notes; CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER NOT NULL DEFAULT 0);
      INSERT INTO items VALUES('a', 'another', 1)
      """
    for device in [mac, phone] { try bench.restart(device, ["items"], after: migration) }
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM items") == ["'a'|'another'|1"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}
