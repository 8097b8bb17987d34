import CloudSyncSQLite
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
    arguments: [false, true],
    [false, true]
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

  @Test(
    "An edit from before it stays where the table gets another name, whatever else it gets",
    arguments: [
      "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER) STRICT",
      "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, n INTEGER, title TEXT, extra TEXT)",
    ],
    [true, false]
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
    arguments: [rebuild, "ALTER TABLE notes RENAME COLUMN title TO name"],
    [false, true]
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
