import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Edits that were not sent when a column or a table is renamed between two starts")
struct RenamedSchemaTests {
  @Test("The newer edit of a renamed column stays")
  func column() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("UPDATE notes SET title = 'B'", at: 1_700_000_100_000)
    let migration = "ALTER TABLE notes RENAME COLUMN title TO name"
    try bench.restart(mac, ["notes"], after: migration)
    try bench.sync(mac)
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT name FROM notes") == ["'B'"])
    #expect(try mac.lines("SELECT name FROM notes") == ["'B'"])
  }

  @Test(
    "A column is renamed that others have under its new name already: no row counts as changed unseen",
    arguments: [
      "ALTER TABLE notes RENAME COLUMN title TO name",
      """
      CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
      INSERT INTO new SELECT id, title FROM notes; DROP TABLE notes; ALTER TABLE new RENAME TO notes
      """,
    ]
  )
  func renamedBefore(migration: String) async throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '')"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: "ALTER TABLE notes RENAME COLUMN title TO name")
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET name = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT * FROM notes ORDER BY id")
      #expect(rows == ["'a'|'A2'", "'b'|'B'"], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "What is edited between the migration and the next start stays beside what was sent before",
    arguments: [true, false]
  )
  func editedAfterwards(isFound: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)"
    let (bench, mac, phone) = try SyncHarness.pair(
      isFound ? "\(schema); \(rows)" : schema,
      tables: ["notes"]
    )
    if !isFound { try mac.execute(rows) }
    try bench.sync(mac, phone)
    let migration = "ALTER TABLE notes RENAME COLUMN title TO name"
    try bench.restart(mac, ["notes"], after: migration)
    // The phone keeps the new name's values beside its table.
    try bench.sync(mac, phone)
    let edit =
      "UPDATE notes SET name = 'A2' WHERE id = 'a'; UPDATE notes SET stars = 7 WHERE id = 'b'"
    try bench.restart(phone, ["notes"], after: "\(migration); \(edit)")
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, name, stars FROM notes ORDER BY id")
      #expect(rows == ["'a'|'A2'|1", "'b'|'B'|7"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What is edited unseen after a rebuild that renames a column is sent")
  func rebuilt() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3)"
    let (bench, mac, phone) = try SyncHarness.pair("\(schema); \(rows)", tables: ["notes"])
    try bench.sync(mac, phone)
    let migration = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, likes INTEGER);
      INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
      """
    try bench.restart(mac, ["notes"], after: migration)
    try bench.sync(mac, phone)
    let edits = "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'"
    try bench.restart(phone, ["notes"], after: "\(migration); \(edits)")
    for _ in 0..<2 { try bench.sync(phone, mac) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'A2'|1", "'c'|'C'|3"])
      #expect(try bench.unclean(device) == [])
    }
  }

  private static func rebuilding(_ columns: String, _ names: String, from former: String) -> String
  {
    """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, \(columns));
    INSERT INTO fresh(id, \(names)) SELECT id, \(former) FROM notes;
    DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
    """
  }

  @Test(
    "An edit that was not sent stays when a rebuild renames its column beside other changes",
    arguments: SuiteSize.pairs(
      2,
      [
        rebuilding(
          "name TEXT, stars INTEGER, z TEXT DEFAULT 'z'",
          "name, stars",
          from: "title, stars"
        ),
        rebuilding("name TEXT", "name", from: "title"),
        rebuilding("stars INTEGER, name TEXT", "name, stars", from: "title, stars"),
        rebuilding("name TEXT, likes INTEGER, z", "name, likes", from: "title, stars"),
      ],
      [true, false]
    )
  )
  func renamedBesideOthers(migration: String, isMigratedFirst: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)"
    let (bench, mac, phone) = try SyncHarness.pair("\(schema); \(rows)", tables: ["notes"])
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 1_800_000_000_000)
    for device in isMigratedFirst ? [mac, phone] : [phone, mac] {
      try bench.restart(device, ["notes"], after: migration)
      try bench.sync(device)
    }
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, name FROM notes ORDER BY id") == ["'a'|'A2'", "'b'|'B'"]
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "The only edit, made after a rebuild that renames its column, stays, whoever is in step first",
    arguments: [true, false]
  )
  func onlyEdit(isFirst: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)"
    let (bench, mac, phone) = try SyncHarness.pair("\(schema); \(rows)", tables: ["notes"])
    try bench.sync(mac, phone)
    let migration = Self.rebuilding("name TEXT, stars INTEGER", "name, stars", from: "title, stars")
    let edit = "UPDATE notes SET name = 'A2' WHERE id = 'a'"
    try bench.restart(mac, ["notes"], after: "\(migration); \(edit)")
    try bench.restart(phone, ["notes"], after: migration)
    for device in isFirst ? [mac, phone] : [phone, mac] { try bench.sync(device) }
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT name FROM notes ORDER BY id") == ["'A2'", "'B'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Edits and deletions of a renamed table stay")
  func table() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'",
      at: 1_700_000_100_000
    )
    let migration = "ALTER TABLE notes RENAME TO memos"
    try bench.restart(mac, ["memos"], after: migration)
    try bench.sync(mac)
    try bench.restart(phone, ["memos"], after: migration)
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT * FROM memos") == ["'a'|'A2'"])
    #expect(try mac.lines("SELECT * FROM memos") == ["'a'|'A2'"])
  }

  @Test(
    "The newer edit stays also where no triggers tell of the name",
    arguments: [
      "ALTER TABLE notes RENAME COLUMN title TO name",
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, name TEXT);
      INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
      """,
    ]
  )
  func withoutTriggers(migration: String) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 1_700_000_100_000)
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'", at: 1_700_000_200_000)
    for device in [mac, phone] {
      device.engine.stop()
      try SyncEngine.withoutCapture(of: ["notes"], in: device.database) {
        try device.database.execute(migration)
      }
      try bench.restart(device, ["notes"])
      try bench.sync(device)
    }
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM notes") == ["'a'|'A2'", "'b'|'B2'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Additions to a counter are counted once under its new name")
  func counter() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns = ["n": .counter, "m": .counter]
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL DEFAULT 0)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 1)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET n = n + 10")
    try bench.sync(phone, mac)
    try mac.execute("UPDATE notes SET n = n + 100")
    try phone.execute("UPDATE notes SET n = n + 1000")
    let migration = "ALTER TABLE notes RENAME COLUMN n TO m"
    for device in [phone, mac] {
      try bench.restart(device, ["notes"], options, after: migration)
      try bench.sync(device)
    }
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT m FROM notes") == ["1111"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Children of a renamed table stay, and new rows and deletions of both sides")
  func parent() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, text TEXT)
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["lists", "notes"])
    try mac.execute("INSERT INTO lists VALUES('a', 'A'), ('b', 'B'), ('c', 'C')")
    try mac.execute("INSERT INTO notes VALUES('1', 'a', 'one'), ('2', 'b', 'two')")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM lists WHERE id = 'b'")
    try phone.execute("INSERT INTO lists VALUES('d', 'D'); INSERT INTO notes VALUES('3', 'd', 'x')")
    try phone.execute("UPDATE lists SET title = 'C2' WHERE id = 'c'")
    let migration =
      "ALTER TABLE lists RENAME TO albums; ALTER TABLE albums RENAME COLUMN title TO name"
    for device in [phone, mac] {
      try bench.restart(device, ["albums", "notes"], after: migration)
      try bench.sync(device)
    }
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      let albums = try device.lines("SELECT * FROM albums ORDER BY id")
      #expect(albums == ["'a'|'A'", "'c'|'C2'", "'d'|'D'"])
      let notes = try device.lines("SELECT * FROM notes ORDER BY id")
      #expect(notes == ["'1'|'a'|'one'", "'3'|'d'|'x'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("An engine for fewer tables does not have what was renamed forgotten")
  func fewerTables() throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE others(id TEXT PRIMARY KEY NOT NULL)
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "others"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("UPDATE notes SET title = 'A2'", at: 1_700_000_100_000)
    let migration =
      "ALTER TABLE notes RENAME TO memos; ALTER TABLE memos RENAME COLUMN title TO name"
    try bench.restart(phone, ["others"], after: migration)
    try bench.sync(phone)
    try phone.execute("INSERT INTO memos VALUES('b', 'B')", at: 1_700_000_200_000)
    try bench.restart(mac, ["memos", "others"], after: migration)
    try bench.sync(mac)
    try bench.restart(phone, ["memos", "others"])
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM memos") == ["'a'|'A2'", "'b'|'B'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}
