import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Migrations of synchronized tables")
struct MigrationTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT id, title, stars FROM notes ORDER BY id"

  /// What makes the table anew, with all that it has.
  private static let rebuilding = """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);
    INSERT INTO fresh SELECT * FROM notes;
    DROP TABLE notes;
    ALTER TABLE fresh RENAME TO notes;
    """

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3)")
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test("A table that is rebuilt: what was edited meanwhile is sent", arguments: [true, false])
  func rebuilt(isRenamed: Bool) throws {
    let (bench, mac, phone) = try pair()
    let rebuilding =
      isRenamed
      ? Self.rebuilding
      : """
      CREATE TEMP TABLE held AS SELECT * FROM notes;
      DROP TABLE notes;
      \(Self.schema);
      INSERT INTO notes SELECT * FROM held;
      DROP TABLE held;
      """
    let edits = """
      UPDATE notes SET title = 'A2' WHERE id = 'a';
      DELETE FROM notes WHERE id = 'b';
      INSERT INTO notes VALUES('d', 'D', 4);
      """
    try bench.restart(mac, ["notes"], after: rebuilding + edits)
    try phone.execute("UPDATE notes SET stars = 30 WHERE id = 'c'")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'A2'|1", "'c'|'C'|30", "'d'|'D'|4"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A row that was edited, and changed unseen by a migration, is sent with both")
  func editedAndChangedUnseen() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.execute("UPDATE notes SET stars = 100 WHERE id = 'a'")
    try bench.restart(
      mac,
      ["notes"],
      after: """
        \(Self.rebuilding)
        UPDATE notes SET title = 'unseen' WHERE id = 'a';
        """
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query).first == "'a'|'unseen'|100")
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
  }

  @Test("An edit of another row that has the key since, made at the same time, is no unseen one")
  func sameTimeInAnotherLife() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)", at: 1_000)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute("UPDATE notes SET title = NULL WHERE id = 'a'", at: 5_000)
    try phone.execute("UPDATE notes SET id = 'z' WHERE id = 'a'", at: 3_000)
    try phone.execute("INSERT INTO notes VALUES('a', 'new', 0)", at: 4_000)
    try phone.execute("UPDATE notes SET title = 'newest' WHERE id = 'a'", at: 5_000)
    try phone.execute("UPDATE notes SET title = 'later' WHERE id = 'z'", at: 6_000)
    try bench.sync(phone)
    try bench.restart(
      mac,
      ["notes"],
      after: Self.rebuilding
    )
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'newest'|0", "'z'|'later'|1"])
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
  }

  @Test("A row that is made again unseen, after the cloud knows that it was deleted, is sent")
  func madeAgainUnseen() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("DELETE FROM notes WHERE id = 'a'")
    try bench.sync(mac, phone)
    try bench.restart(
      mac,
      ["notes"],
      after: """
        \(Self.rebuilding)
        INSERT INTO notes VALUES('a', 'again', 7);
        """
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'again'|7", "'b'|'B'|2", "'c'|'C'|3"])
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
  }

  @Test("A column that is added and filled differently on each: the cloud's values stay")
  func columnAdded() throws {
    let (bench, mac, phone) = try pair()
    for (device, value) in [(mac, "m"), (phone, "p")] {
      try bench.restart(
        device,
        ["notes"],
        after: "ALTER TABLE notes ADD COLUMN tag TEXT; UPDATE notes SET tag = '\(value)'"
      )
    }
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let tags = try mac.lines("SELECT id, tag FROM notes ORDER BY id")
    #expect(tags == ["'a'|'m'", "'b'|'m'", "'c'|'m'"])
    #expect(try phone.lines("SELECT id, tag FROM notes ORDER BY id") == tags)
  }

  @Test(
    "A column that is added on both and filled on one before its next start: no default wins over that",
    arguments: SuiteSize.pairs(
      2,
      ["TEXT", "TEXT NOT NULL DEFAULT 'none'"],
      [DeletePolicy.deleteWins, .editWins]
    )
  )
  func columnAddedAndFilled(type: String, deletes: DeletePolicy) throws {
    let (bench, mac, phone) = try pair()
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.merging = TableMergePolicy(deletes: deletes)
    options.tables["notes"] = notes
    let migration = "ALTER TABLE notes ADD COLUMN tag \(type);"
    try bench.restart(mac, ["notes"], options, after: migration)
    try bench.sync(mac)
    let edits = """
      UPDATE notes SET tag = 'p' WHERE id = 'a';
      UPDATE notes SET tag = 'q', title = 'B2' WHERE id = 'b';
      """
    try mac.execute("DELETE FROM notes WHERE id = 'c'; UPDATE notes SET tag = 'm' WHERE id = 'b'")
    try bench.sync(mac)
    try bench.restart(
      phone,
      ["notes"],
      options,
      after: migration + edits + "UPDATE notes SET tag = 'x' WHERE id = 'c'"
    )
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)

    let tags = try mac.lines("SELECT id, title, tag FROM notes ORDER BY id")
    // An edit that was captured is newer than what a migration may have filled.
    #expect(tags == ["'a'|'A'|'p'", "'b'|'B2'|'m'"])
    #expect(try phone.lines("SELECT id, title, tag FROM notes ORDER BY id") == tags)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "What a migration sets in a new column stays where a newer version has sent no more than its default",
    arguments: SuiteSize.pairs(
      2,
      ["TEXT NOT NULL DEFAULT 'd'", "TEXT", "INTEGER NOT NULL DEFAULT 0"],
      [true, false]
    )
  )
  func filledAfterDefault(type: String, isHeardBefore: Bool) throws {
    let (bench, mac, phone) = try pair()
    let migration = "ALTER TABLE notes ADD COLUMN z \(type)"
    try bench.restart(mac, ["notes"], after: migration)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET z = 9 WHERE id = 'c'")
    try bench.sync(mac)
    if isHeardBefore { try bench.sync(phone) }
    let filling = "UPDATE notes SET z = 5 WHERE id <> 'a'"
    try bench.restart(phone, ["notes"], after: "\(migration); \(filling)")
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let query = "SELECT id, CAST(z AS TEXT) FROM notes WHERE id <> 'a' ORDER BY id"
      let rows = try device.lines(query)
      #expect(rows == ["'b'|'5'", "'c'|'9'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "It stays too where everything is fetched before rows are compared, also in rows that were edited",
    arguments: SuiteSize.pairs(2, [[], ["notes"], ["lists"]], [true, false])
  )
  func filledBeforeFetch(rebuilt: [String], isSet: Bool) throws {
    let tables = ["notes", "lists"]
    let lists = "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair("\(Self.schema); \(lists)", tables: tables)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3)")
    try bench.sync(mac, phone)
    let migration = "ALTER TABLE notes ADD COLUMN z INTEGER NOT NULL DEFAULT 5"
    let columns =
      "id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, z INTEGER NOT NULL DEFAULT 5"
    try bench.restart(mac, tables, after: migration)
    try bench.sync(mac)
    if isSet {
      try mac.execute("UPDATE notes SET z = 9 WHERE id = 'c'")
      try bench.sync(mac)
    }
    try phone.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    var all = "\(migration); UPDATE notes SET z = 7; UPDATE notes SET stars = 20 WHERE id = 'b';"
    for name in rebuilt {
      let declared = name == "notes" ? columns : "id TEXT PRIMARY KEY NOT NULL, name TEXT"
      all += """
        CREATE TABLE fresh(\(declared)); INSERT INTO fresh SELECT * FROM \(name);
        DROP TABLE \(name); ALTER TABLE fresh RENAME TO \(name);
        """
    }
    phone.engine.stop()
    try bench.restart(phone, tables, after: all)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT * FROM notes ORDER BY id")
      #expect(
        rows == ["'a'|'A'|1|7", "'b'|'B2'|20|7", "'c'|'C'|3|\(isSet ? 9 : 7)"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "What a migration fills a new column with gives way to what a newer version has set, and counts as no unseen edit",
    arguments: ["ALTER TABLE notes ADD COLUMN z TEXT DEFAULT 'd'", MigrationTests.rebuild]
  )
  func filledOverEdit(migration: String) async throws {
    let (bench, mac, phone) = try pair()
    let filling = "\(migration); UPDATE notes SET z = 'y'"
    try bench.restart(mac, ["notes"], after: filling)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET z = 'set' WHERE id = 'b'")
    try bench.sync(mac, phone)
    try bench.restart(
      phone,
      ["notes"],
      after: "\(filling); UPDATE notes SET stars = 9 WHERE id = 'c'"
    )
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, stars, z FROM notes ORDER BY id")
      #expect(rows == ["'a'|1|'y'", "'b'|2|'set'", "'c'|9|'y'"], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "What a migration fills a new column with gives way to what a newer version had before its first sync"
  )
  func filledOverFound() throws {
    let bench = SyncHarness()
    let added = "ALTER TABLE notes ADD COLUMN z TEXT DEFAULT 'd'"
    let rows = "INSERT INTO notes VALUES('a', 'A', 1, 'set'), ('b', 'B', 2, 'd')"
    let mac = try bench.device("mac", "\(Self.schema); \(added); \(rows)", tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    try bench.restart(phone, ["notes"], after: "\(added); UPDATE notes SET z = 'y'")
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, z FROM notes ORDER BY id")
      #expect(rows == ["'a'|'set'", "'b'|'y'"], "\(device.name)")
    }
  }

  private static let rebuild = """
    CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, z TEXT DEFAULT 'd');
    INSERT INTO new(id, title, stars) SELECT id, title, stars FROM notes;
    DROP TABLE notes; ALTER TABLE new RENAME TO notes
    """

  @Test("Names of a table and a column get letters of the other case: no row and no edit is lost")
  func spelledInOtherCase() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    phone.engine.stop()
    try mac.execute("UPDATE notes SET title = 'old' WHERE id = 'a'", at: 1_700_000_000_000)
    try phone.execute(
      """
      UPDATE notes SET title = 'newest', stars = 5 WHERE id = 'a';
      UPDATE notes SET title = 'mine' WHERE id = 'b';
      """,
      at: 1_700_000_100_000
    )
    let migration = """
      ALTER TABLE notes RENAME COLUMN title TO Title;
      ALTER TABLE notes RENAME TO passing; ALTER TABLE passing RENAME TO Notes;
      """
    try bench.restart(mac, ["Notes"], after: migration)
    try bench.sync(mac)
    #expect(try mac.lines(Self.query) == ["'a'|'old'|1", "'b'|'B'|2", "'c'|'C'|3"])
    try bench.restart(phone, ["Notes"], after: migration)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'newest'|5", "'b'|'mine'|2", "'c'|'C'|3"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Where edits win a row that was deleted unseen comes back whole with an edit of elsewhere")
  func deletedUnseen() throws {
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.merging = TableMergePolicy(deletes: .editWins)
    options.tables["notes"] = notes
    // Columns without a type have their values aside.
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title, stars)"
    let bench = SyncHarness()
    let rows = schema + "; INSERT INTO notes VALUES('a', 'A', 1)"
    let mac = try bench.device("mac", rows, tables: ["notes"], options: options)
    let phone = try bench.device("phone", rows, tables: ["notes"], options: options)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.database.execute("DELETE FROM notes")
    }
    try phone.execute("UPDATE notes SET stars = 2")
    try bench.restart(mac, ["notes"], options)
    try bench.sync(mac, phone)
    try bench.sync(mac)

    for device in [mac, phone] { #expect(try device.lines(Self.query) == ["'a'|'A'|2"]) }
  }

  @Test("A column that is added while the engine runs: its edits are sent after the next start")
  func columnAddedWhileRunning() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "ALTER TABLE notes ADD COLUMN tag TEXT; UPDATE notes SET tag = 'new', title = 'A2' WHERE id = 'a'"
    )
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.query).first == "'a'|'A2'|1")
    try bench.restart(mac, ["notes"])
    try bench.restart(phone, ["notes"], after: "ALTER TABLE notes ADD COLUMN tag TEXT")
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id, tag FROM notes ORDER BY id").first == "'a'|'new'")
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "A table that is rebuilt while the engine runs: it notices, and sends what was edited"
  )
  func rebuiltWhileRunning() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      \(Self.rebuilding)
      UPDATE notes SET title = 'A2' WHERE id = 'a';
      """
    )
    try phone.execute("UPDATE notes SET title = 'theirs' WHERE id = 'a'")
    try bench.sync(phone)
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(60))
    #expect(mac.engine.isRunning && mac.failures.isEmpty)

    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A table that is dropped while the engine runs: it stops, and says which")
  func droppedWhileRunning() throws {
    let (bench, mac, _) = try pair()
    try mac.execute("DROP TABLE notes")
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(60))
    #expect(!mac.engine.isRunning)
    #expect(mac.failures.contains { $0.contains("notes") })
  }

  @Test("A column is dropped where capture is told of it; the others keep theirs")
  func columnDropped() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try SyncEngine.withoutCapture(of: ["notes"], in: mac.database) {
      try mac.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
    try bench.restart(mac, ["notes"], after: "UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'A2'|1", "'b'|'B'|2", "'c'|'C'|3"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("An engine for fewer tables leaves the edits of the others for the next one")
  func fewerTables() throws {
    let schema = Self.schema + "; CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "lists"])
    try mac.execute("INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"])
    try mac.execute(
      "UPDATE lists SET name = 'L2'; UPDATE notes SET title = 'A2'; INSERT INTO lists VALUES('m', 'M')"
    )
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM lists") == ["'l'|'L'"])
    try bench.restart(mac, ["notes", "lists"])
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT * FROM lists ORDER BY id") == ["'l'|'L2'", "'m'|'M'"])
    #expect(try phone.lines(Self.query) == ["'a'|'A2'|1"])
  }

  @Test("A table that is dropped on one side: sync goes on, and the other keeps its rows")
  func tableDropped() throws {
    let schema = Self.schema + "; CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "lists"])
    try mac.execute("INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: "DROP TABLE lists")
    try phone.execute("UPDATE lists SET name = 'L2'; UPDATE notes SET title = 'A2'")
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.query) == ["'a'|'A2'|1"])
    #expect(try phone.lines("SELECT * FROM lists") == ["'l'|'L2'"])
    // And comes back.
    try bench.restart(
      mac,
      ["notes", "lists"],
      after: "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    )
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT * FROM lists") == ["'l'|'L2'"])
    #expect(try phone.lines("SELECT * FROM lists") == ["'l'|'L2'"])
  }

  @Test("A default that is not constant is one value everywhere")
  func computedDefault() throws {
    let bench = SyncHarness()
    let old = try bench.device(
      "old",
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)",
      tables: ["notes"]
    )
    let schema =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, token BLOB DEFAULT (randomblob(8)))"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try old.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(old, mac, phone)
    try bench.sync(old, mac, phone)

    let tokens = try mac.lines("SELECT hex(token) FROM notes")
    #expect(tokens.count == 1)
    #expect(try phone.lines("SELECT hex(token) FROM notes") == tokens)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}
