import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows that refer to rows which stay on a device")
struct RowFilterParentTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT
    );
    CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id) ON DELETE CASCADE);
    """
  private static let tables = ["lists", "notes", "marks"]

  private func pair(
    enforcesForeignKeys: Bool = true
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      options: RowFilterTests.options(of: "lists"),
      enforcesForeignKeys: enforcesForeignKeys
    )
  }

  private func all(_ device: SyncHarness.Device) throws -> [String] {
    try device.lines(
      "SELECT id FROM lists UNION ALL SELECT id FROM notes UNION ALL SELECT id FROM marks"
    )
  }

  @Test("They wait with it, over several tables, and go with it in the order of their tables")
  func waits() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 1), ('m', 0);
      INSERT INTO notes VALUES('n', 'l', ''), ('o', 'm', ''), ('p', NULL, '');
      INSERT INTO marks VALUES('x', 'n'), ('y', 'o');
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'m'", "'o'", "'p'", "'y'"])
    #expect(try bench.unclean(phone) == [])
    #expect(
      try bench.unclean(mac) == [
        "'l:lists'|'local'|NULL", "'n:notes'|'local'|NULL", "'x:marks'|'local'|NULL",
      ]
    )
    #expect(mac.activity?.pendingRows == 0)
    try mac.execute("UPDATE lists SET private = 0", at: 2)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'l'", "'m'", "'n'", "'o'", "'p'", "'x'", "'y'"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("One that is moved to a parent which is sent goes, and its children with it")
  func moved() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 1), ('m', 0);
      INSERT INTO notes VALUES('n', 'l', '');
      INSERT INTO marks VALUES('x', 'n');
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET list = 'm'", at: 2)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'m'", "'n'", "'x'"])
    #expect(try bench.unclean(mac) == ["'l:lists'|'local'|NULL"])
  }

  @Test(
    "A parent that was to be sent, and stops matching before, keeps its children; one in the cloud does not"
  )
  func stopsMatching() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO lists VALUES('m', 0)", at: 1)
    try bench.sync(mac, phone)
    // The engine has noted them as pending, and could not send.
    mac.engine.stop()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 0); INSERT INTO notes VALUES('n', 'l', '')",
      at: 2
    )
    _ = try mac.engine.status(of: .string("n"), in: "notes")
    try mac.execute("UPDATE lists SET private = 1", at: 3)
    try mac.execute("INSERT INTO notes VALUES('o', 'm', '')", at: 4)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'m'", "'o'"])
    #expect(mac.activity?.pendingRows == 0)
    #expect(mac.activity?.explanation == "Everything is synced.")
    #expect(try phone.lines("PRAGMA foreign_key_check") == [])
    // The other device makes the same list: then the notes of this one may refer to it.
    try phone.execute("INSERT INTO lists VALUES('l', 0)", at: 5)
    try bench.sync(phone, mac, phone)
    #expect(try all(phone) == ["'l'", "'m'", "'n'", "'o'"])
  }

  @Test("A parent that goes takes them along, and whoever is let go of is sent")
  func deletedParent() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 1); INSERT INTO notes VALUES('n', 'l', ''), ('o', 'l', '')",
      at: 1
    )
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET list = NULL WHERE id = 'o'", at: 2)
    try mac.execute("DELETE FROM lists", at: 3)
    try bench.sync(mac, phone)
    #expect(try all(mac) == ["'o'"])
    #expect(try all(phone) == ["'o'"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test(
    "What goes with a row that does not match goes here alone, and comes back without a filter",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func cascade(isEnforcing: Bool, reads: Bool) throws {
    let (bench, mac, phone) = try pair(enforcesForeignKeys: isEnforcing)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 0), ('m', 0);
      INSERT INTO notes VALUES('n', 'l', ''), ('o', 'm', '');
      INSERT INTO marks VALUES('x', 'n'), ('y', 'o')
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    if reads {
      // The triggers are made anew, and still tell what follows from what.
      try bench.restart(mac, Self.tables, RowFilterTests.options("private < 1", of: "lists"))
    }
    try mac.execute("UPDATE lists SET private = 1 WHERE id = 'l'", at: 2)
    if reads { try bench.sync(mac) }
    try mac.execute("DELETE FROM lists", at: 3)
    try bench.sync(mac, phone, mac)
    #expect(try all(mac) == [])
    #expect(try all(phone) == ["'l'", "'n'", "'x'"])
    #expect(try bench.unclean(mac) == [])
    try bench.restart(mac, Self.tables)
    try bench.sync(mac, phone)
    #expect(try all(mac) == ["'l'", "'n'", "'x'"])
    #expect(try all(phone) == ["'l'", "'n'", "'x'"])
    try mac.execute("DELETE FROM lists", at: 4)
    try bench.sync(mac, phone)
    #expect(try all(phone) == [])
  }

  @Test(
    "Many rows that go with one that does not match stay elsewhere, wherever a batch of edits ends"
  )
  func longCascade() throws {
    // Edits are read 5,000 at a time.
    let (count, kept) = (SuiteSize.count(150, long: 6_000), SuiteSize.count(50, long: 500))
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 0), ('m', 0);
      INSERT INTO notes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        SELECT 'n' || i, iif(i <= \(count - kept), 'l', 'm'), '' FROM n
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 1 WHERE id = 'l'; DELETE FROM lists", at: 2)
    try bench.sync(mac, phone)
    #expect(try all(mac) == [])
    #expect(try phone.lines("SELECT count(*) FROM notes") == ["\(count - kept)"])
    #expect(try phone.lines("SELECT id FROM lists") == ["'l'"])
  }

  @Test(
    "A deleted child of a row in the cloud goes; what an own filter holds back does not count twice"
  )
  func ownFilterOfChildren() throws {
    var options = RowFilterTests.options(of: "lists")
    options.tables["notes"] = SyncEngineOptions.Table()
    options.tables["notes"]?.rowFilter = "title <> 'draft'"
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      options: options
    )
    try mac.execute(
      "INSERT INTO lists VALUES('l', 1); INSERT INTO notes VALUES('n', 'l', 'draft')",
      at: 1
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 0", at: 2)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'l'"])
    try mac.execute("UPDATE notes SET title = 'done'", at: 3)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'l'", "'n'"])
    try mac.execute("DELETE FROM notes", at: 4)
    try bench.sync(mac, phone)
    #expect(try all(phone) == ["'l'"])
  }

  @Test("Rows of a tree, and rows in a circle, wait for whom they need")
  func trees() throws {
    let schema = """
      CREATE TABLE nodes(id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES nodes(id), private INTEGER)
      """
    let (bench, mac, phone) = try SyncHarness.pair(
      schema,
      tables: ["nodes"],
      options: RowFilterTests.options(of: "nodes")
    )
    try mac.execute(
      """
      BEGIN; PRAGMA defer_foreign_keys = ON;
      INSERT INTO nodes VALUES('r', NULL, 1), ('s', 'r', 0), ('t', 's', 0), ('u', 'v', 0), ('v', 'u', 0), ('w', 'w', 0);
      COMMIT
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM nodes") == ["'u'", "'v'", "'w'"])
    try mac.execute("UPDATE nodes SET private = 0", at: 2)
    try bench.sync(mac, phone)
    #expect(
      try phone.lines("SELECT id FROM nodes ORDER BY id") == [
        "'r'", "'s'", "'t'", "'u'", "'v'", "'w'",
      ]
    )
  }
}
