import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows that another row is written over, by a unique key")
struct ReplacedRowTests {
  private static let schema = """
    CREATE TABLE tags(
      id TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE UNIQUE, color TEXT, place INTEGER,
      CHECK(color <> 'none')
    );
    CREATE UNIQUE INDEX places ON tags(place) WHERE color = 'red';
    CREATE UNIQUE INDEX lengths ON tags(length(color) + place);
    """
  private static let query = "SELECT * FROM tags ORDER BY id"

  /// Two databases with two rows.
  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["tags"], options: options)
    try mac.execute(
      "INSERT INTO tags VALUES('a', 'work', 'red', 10), ('b', 'play', 'blue', 20)"
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test(
    "They are deleted in the cloud and elsewhere",
    arguments: SuiteSize.some(
      2,
      of: [
        // By a column with a collation, an index of some rows, and one of an expression.
        ("INSERT OR REPLACE INTO tags VALUES('c', 'WORK', NULL, NULL)", ["b", "c"]),
        ("REPLACE INTO tags VALUES('c', NULL, 'red', 10)", ["b", "c"]),
        ("REPLACE INTO tags VALUES('c', NULL, 'green', 19)", ["a", "c"]),
        // Two at once.
        ("REPLACE INTO tags VALUES('c', 'work', 'blue', 20)", ["c"]),
        ("UPDATE OR REPLACE tags SET name = 'play' WHERE id = 'a'", ["a"]),
        // The row that is gone comes back.
        (
          "REPLACE INTO tags VALUES('c', 'work', NULL, 3); REPLACE INTO tags VALUES('a', 'work', NULL, 4)",
          ["a", "b"]
        ),
      ]
    )
  )
  func replaced(sql: String, left: [String]) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(sql)
    #expect(try mac.lines("SELECT id FROM tags ORDER BY id") == left.map { "'\($0)'" })
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
    #expect(try bench.cloudNames() == left.map { "\($0):tags" })
  }

  @Test(
    "Rows that are not replaced stay",
    arguments: SuiteSize.some(
      2,
      of: [
        "INSERT OR IGNORE INTO tags VALUES('c', 'work', NULL, NULL)",
        "INSERT INTO tags VALUES('c', 'work', NULL, 7) ON CONFLICT(name) DO UPDATE SET place = 7",
        "UPDATE OR IGNORE tags SET name = 'play' WHERE id = 'a'",
        "UPDATE tags SET name = 'Work' WHERE id = 'a'",
        "REPLACE INTO tags VALUES('c', NULL, 'green', 10)",
      ]
    )
  )
  func kept(sql: String) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(sql)
    #expect(try mac.lines("SELECT id FROM tags ORDER BY id").prefix(2) == ["'a'", "'b'"])
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A statement that fails leaves no trace in the outbox")
  func failed() throws {
    let (_, mac, _) = try pair()
    for sql in [
      "INSERT INTO tags VALUES('c', 'work', NULL, NULL)",
      "REPLACE INTO tags VALUES('c', 'work', 'none', NULL)",
    ] {
      #expect(throws: (any Error).self) { try mac.execute(sql) }
    }
    #expect(try mac.lines("SELECT * FROM cloudsync_outbox") == [])
    #expect(try mac.lines("SELECT id FROM tags ORDER BY id") == ["'a'", "'b'"])
  }
}
