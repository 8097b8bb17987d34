import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A migration that gives a column another name by making its table anew: no trigger tells of the name, nor of what is
/// edited before the next engine starts.
@Suite("Tables that are made anew with another name of a column")
struct RenamedRebuildTests {
  private static let rebuild = """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER);
    INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
    """

  @Test(
    "An edit right after it stays, whether or not another device has sent the new name before",
    arguments: SuiteSize.pairs(2, [false, true], [false, true])
  )
  func editedAfter(hasSynced: Bool, isEdited: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    let start: Int64 = 1_700_000_000_000
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1)", at: start)
    try bench.sync(mac, phone)
    let rename = "ALTER TABLE notes RENAME COLUMN title TO name"
    try bench.restart(mac, ["notes"], after: rename)
    if isEdited {
      try mac.execute("UPDATE notes SET name = 'B1' WHERE id = 'b'", at: start + 100_000)
    }
    try bench.sync(mac)
    if hasSynced { try bench.sync(phone, mac) }
    let edit = "UPDATE notes SET name = 'A2' WHERE id = 'a'; UPDATE notes SET n = 2 WHERE id = 'b'"
    try bench.restart(phone, ["notes"], after: "\(Self.rebuild); \(edit)")
    try bench.sync(phone, mac)

    let other = isEdited ? "'b'|'B1'|2" : "'b'|'B'|2"
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'A2'|1", other], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  /// Every device has made it by statements of its own, at once or one after the other.
  @Test(
    "An edit right after it stays where the column gets another type, collation or default besides",
    arguments: SuiteSize.pairs(
      2,
      [
        "name BLOB, n TEXT NOT NULL DEFAULT 0", "n REAL, name TEXT COLLATE NOCASE",
        "name TEXT NOT NULL DEFAULT 'none', n INTEGER",
        "extra INTEGER GENERATED ALWAYS AS (1), name ANY, n",
      ],
      [false, true]
    )
  )
  func declaredOtherwise(columns: String, isFirst: Bool) async throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    let start: Int64 = 1_700_000_000_000
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1), ('c', 'C', 1), ('d', 'D', 0)",
      at: start
    )
    try bench.sync(mac, phone)
    let rebuild = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, \(columns));
      INSERT INTO fresh(id, name, n) SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
      """
    if isFirst {
      try bench.restart(mac, ["notes"], after: rebuild)
      try bench.sync(mac)
      try mac.execute("UPDATE notes SET name = 'C1' WHERE id = 'c'", at: start + 100_000)
    } else {
      try mac.execute("UPDATE notes SET title = 'C1' WHERE id = 'c'", at: start + 100_000)
    }
    try bench.sync(mac)
    let edit = "UPDATE notes SET name = 'A2' WHERE id = 'a'; UPDATE notes SET n = 2 WHERE id = 'b'"
    try bench.restart(phone, ["notes"], after: "\(rebuild); \(edit)")
    try bench.sync(phone)
    if !isFirst { try bench.restart(mac, ["notes"], after: rebuild) }
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      let rows = try device.lines(
        "SELECT id, CAST(name AS TEXT), CAST(n AS INTEGER) FROM notes ORDER BY id"
      )
      #expect(rows == ["'a'|'A2'|1", "'b'|'B'|2", "'c'|'C1'|1", "'d'|'D'|0"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "A column that is filled with something else is another one, and what it replaces was dropped"
  )
  func filledOtherwise() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3), ('d', NULL, 4)"
    )
    try bench.sync(mac, phone)
    let rebuild = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, size REAL, n INTEGER);
      INSERT INTO fresh SELECT id, 0.5 + length(title), n FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
      """
    try bench.restart(mac, ["notes"], after: rebuild)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET size = 9 WHERE id <> 'b'")
    try bench.sync(mac, phone)
    #expect(
      try phone.lines("SELECT title FROM notes ORDER BY id") == ["'A'", "'B'", "'C'", "NULL"]
    )
    try bench.restart(phone, ["notes"], after: rebuild)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT size FROM notes ORDER BY id") == ["9.0", "1.5", "9.0", "9.0"]
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "An edit from before it stays where the table gets another name, whatever else it gets",
    arguments: SuiteSize.pairs(
      2,
      [
        "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER) STRICT",
        "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, n INTEGER, title TEXT, extra TEXT)",
      ],
      [true, false]
    )
  )
  func tableRenamed(declaration: String, isFirst: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    let start: Int64 = 1_700_000_000_000
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1)", at: start)
    try bench.sync(mac, phone)
    let rebuild = """
      \(declaration); INSERT INTO pages(id, title, n) SELECT id, title, n FROM notes; DROP TABLE notes
      """
    let rename =
      declaration.contains("extra")
      ? "\(rebuild)" : "ALTER TABLE notes RENAME TO pages"
    try phone.execute("UPDATE notes SET n = 8 WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'")
    phone.engine.stop()
    if isFirst {
      try bench.restart(mac, ["pages"], after: rename)
      try bench.sync(mac)
    }
    try bench.restart(phone, ["pages"], after: rebuild)
    try bench.sync(phone)
    if !isFirst { try bench.restart(mac, ["pages"], after: rename) }
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id, title, n FROM pages") == ["'a'|'A'|8"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "What a row had stays that nobody saw being inserted, where others have filled the new name with its default",
    arguments: SuiteSize.pairs(
      2,
      [rebuild, "ALTER TABLE notes RENAME COLUMN title TO name"],
      [false, true]
    )
  )
  func unseenRow(rename: String, hasHeard: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    let rebuild = Self.rebuild.replacing("name", with: "title")
    try bench.restart(phone, ["notes"], after: "\(rebuild); INSERT INTO notes VALUES('b', 'B', 2)")
    try bench.sync(phone)
    try bench.restart(mac, ["notes"], after: rename)
    try bench.sync(mac)
    if hasHeard { try bench.sync(phone) }
    try bench.restart(phone, ["notes"], after: rename)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT * FROM notes")
      #expect(rows == ["'a'|'A'|1", "'b'|'B'|2"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A new table with the columns of one that goes, and none of its rows, is another one")
  func otherTable() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    let migration = """
      DROP TABLE notes; CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, title TEXT, color TEXT);
      INSERT INTO tags VALUES('red', 'Red', 'f00')
      """
    for device in [mac, phone] { try bench.restart(device, ["tags"], after: migration) }
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM tags") == ["'red'|'Red'|'f00'"])
      #expect(try bench.unclean(device) == [])
    }
    #expect(try !bench.cloudNames().contains("a:tags"))
  }
}
