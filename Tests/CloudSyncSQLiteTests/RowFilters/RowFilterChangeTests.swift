import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Row filters that are given, changed and removed")
struct RowFilterChangeTests {
  private static let rows = "SELECT id FROM notes ORDER BY id"

  private func pair(
    _ filter: String? = "private = 0"
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try RowFilterTests.pair(RowFilterTests.options(filter))
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'A', '', 0), ('b', 'B', '', 0), ('p', 'P', '', 1), ('q', 'Q', '', 2)",
      at: 1
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private func restart(
    _ bench: SyncHarness,
    _ mac: SyncHarness.Device,
    _ filter: String?,
    after sql: String = ""
  ) throws {
    try bench.restart(mac, RowFilterTests.tables, RowFilterTests.options(filter), after: sql)
  }

  @Test(
    "Rows that match another filter are sent at the next start, those that stop matching are not"
  )
  func changed() throws {
    let (bench, mac, phone) = try pair()
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
    try restart(bench, mac, "private < 2", after: "UPDATE notes SET title = 'Q2' WHERE id = 'q'")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'", "'p'"])
    #expect(try bench.unclean(mac) == ["'q:notes'|'local'|NULL"])
    let edit = "UPDATE notes SET body = 'x' WHERE id <> 'q'"
    try restart(bench, mac, "private = 1", after: edit)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM notes WHERE body = 'x'") == ["'p'"])
  }

  @Test(
    "Without a filter everything is sent, and what was deleted here alone comes back",
    arguments: [true, false]
  )
  func removed(isRead: Bool) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET private = 1 WHERE id < 'c'", at: 2)
    try bench.sync(mac)
    if !isRead { mac.engine.stop() }
    try mac.execute("DELETE FROM notes WHERE id IN ('b', 'q')", at: 3)
    if isRead { try bench.sync(mac, phone) }
    try restart(bench, mac, nil)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, title, private FROM notes ORDER BY id") == [
          "'a'|'A'|1", "'b'|'B'|0", "'p'|'P'|1",
        ]
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  /// Two devices, the first of which sends public notes only, and has deleted a private one with its tag, and stopped.
  private func cascadedPair() throws -> (
    SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device, tables: [String]
  ) {
    let schema = """
      PRAGMA foreign_keys = ON;
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE tags(
        id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id) ON DELETE CASCADE
      );
      """
    let tables = ["notes", "tags"]
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: tables)
    try mac.execute(
      "INSERT INTO notes VALUES('a', 0), ('b', 1); INSERT INTO tags VALUES('t', 'b'), ('u', 'a')"
    )
    try bench.sync(mac, phone)
    try bench.restart(mac, tables, RowFilterTests.options("private = 0"))
    try bench.sync(mac)
    mac.engine.stop()
    try mac.execute("DELETE FROM notes WHERE id = 'b'")
    return (bench, mac, phone, tables)
  }

  @Test(
    "What went with a row that was deleted for this device alone stays with the others, though the schema changes before it is read",
    arguments: [
      "ALTER TABLE tags ADD COLUMN x", "ALTER TABLE notes ADD COLUMN x",
      "CREATE TRIGGER mine AFTER INSERT ON tags BEGIN SELECT 1; END",
    ]
  )
  func cascadedBeforeMigration(migration: String) throws {
    let (bench, mac, phone, tables) = try cascadedPair()
    try bench.restart(mac, tables, RowFilterTests.options("private = 0"), after: migration)
    for _ in 0..<2 { try bench.sync(mac, phone) }

    #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
    #expect(try phone.lines("SELECT id FROM tags ORDER BY id") == ["'t'", "'u'"])
    #expect(try mac.lines("SELECT id FROM tags") == ["'u'"])
    #expect(try bench.unclean(phone) == [])
  }

  @Test("Without the filter it comes back", arguments: [true, false])
  func cascaded(isRead: Bool) throws {
    let (bench, mac, phone, tables) = try cascadedPair()
    if isRead { try bench.sync(mac, phone) }
    try bench.restart(mac, tables, RowFilterTests.options(nil))
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines(Self.rows) == ["'a'", "'b'"], "\(device.name)")
      #expect(try device.lines("SELECT id FROM tags ORDER BY id") == ["'t'", "'u'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What matched when it was deleted is deleted everywhere, though it had not matched before")
  func matchedAgain() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET private = 1 WHERE id = 'b'", at: 2)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute(
      "UPDATE notes SET private = 0 WHERE id = 'b'; DELETE FROM notes WHERE id = 'b'",
      at: 3
    )
    try restart(bench, mac, nil)
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines(Self.rows) == ["'a'", "'p'", "'q'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A filter that is given later holds back what is pending, and takes nothing from the cloud")
  func given() throws {
    let (bench, mac, phone) = try pair(nil)
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'", "'p'", "'q'"])
    // A deletion of before was meant for all.
    let edits = "UPDATE notes SET title = 'X' WHERE id < 'q'; DELETE FROM notes WHERE id = 'q'"
    try restart(bench, mac, "private = 0", after: edits)
    try bench.sync(mac, phone)
    #expect(
      try phone.lines("SELECT id, title FROM notes ORDER BY id") == [
        "'a'|'X'", "'b'|'X'", "'p'|'P'",
      ]
    )
    #expect(try bench.unclean(mac) == ["'p:notes'|'local'|NULL"])
  }

  @Test("Children go when the filter of their parents is removed, whatever other filters there are")
  func removedFromParents() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id));
      CREATE TABLE others(id TEXT PRIMARY KEY NOT NULL, private INTEGER)
      """
    let tables = ["lists", "notes", "others"]
    for keepsOther in [false, true] {
      var options = RowFilterTests.options(of: "lists")
      options.tables["others"] = options.tables["lists"]
      let (bench, mac, phone) = try SyncHarness.pair(schema, tables: tables, options: options)
      try mac.execute(
        """
        INSERT INTO lists VALUES('l', 1); INSERT INTO notes VALUES('n', 'l');
        INSERT INTO others VALUES('o', 1)
        """,
        at: 1
      )
      try bench.sync(mac, phone)
      #expect(try bench.cloudNames() == [])
      options.tables["lists"] = nil
      if !keepsOther { options.tables["others"] = nil }
      try bench.restart(mac, tables, options)
      try bench.sync(mac, phone)
      #expect(try phone.lines("SELECT id FROM notes") == ["'n'"])
      #expect(try phone.lines("SELECT id FROM others") == (keepsOther ? [] : ["'o'"]))
    }
  }

  @Test("Engines with different filters on one file, one after the other: each sends what it may")
  func twoEngines() throws {
    let (bench, mac, phone) = try pair()
    for (filter, rows) in [
      ("private = 1", ["'a'", "'b'", "'p'"]), ("private = 0", ["'a'", "'b'", "'p'"]),
      ("private = 2", ["'a'", "'b'", "'p'", "'q'"]),
    ] {
      try restart(bench, mac, filter)
      try bench.sync(mac, phone)
      #expect(try phone.lines(Self.rows) == rows)
    }
    #expect(try bench.unclean(mac) == [])
  }

  @Test(
    "What an engine that is still open with another filter holds back, the one that sends looks at again",
    arguments: [nil, "private <> 2"]
  )
  func bothOpen(filter: String?) throws {
    let (bench, mac, phone) = try pair()
    let former = mac.engine
    try restart(bench, mac, filter)
    try bench.sync(mac, phone)
    try mac.execute("INSERT INTO notes VALUES('r', 'R', '', 1)", at: 2)
    // It reads the edit, as an extension of the app's last version does.
    _ = try former.retryParked()
    #expect(try bench.unclean(mac).contains("'r:notes'|'local'|NULL"))
    try mac.execute("INSERT INTO notes VALUES('s', 'S', '', 0)", at: 3)
    try bench.sync(mac, phone)
    let rows = ["'a'", "'b'", "'p'"] + (filter == nil ? ["'q'"] : []) + ["'r'", "'s'"]
    #expect(try phone.lines(Self.rows) == rows)
  }

  @Test("A migration that renames the condition's column changes the filter in the same version")
  func migrated() throws {
    let (bench, mac, phone) = try pair()
    let rename = "ALTER TABLE notes RENAME COLUMN private TO secret"
    #expect(throws: SyncEngineError.self) {
      try restart(bench, mac, "private = 0", after: rename)
    }
    try restart(bench, mac, "secret = 0")
    try mac.execute("UPDATE notes SET secret = 0 WHERE id = 'p'", at: 3)
    try bench.restart(phone, RowFilterTests.tables, after: rename)
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'", "'p'"])
    try mac.execute("UPDATE notes SET secret = 1 WHERE id = 'p'; DELETE FROM notes", at: 4)
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'p'"])
  }
}
