import CloudSyncSQLite
import Testing

@Suite("Triggers of the app's")
struct AppTriggerTests {
  /// A time that is another one at every update, and an index of words, as apps have them.
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, changed TEXT);
    CREATE TABLE words(note TEXT, title TEXT);
    CREATE TABLE ticks(n INTEGER);
    CREATE TRIGGER made AFTER INSERT ON notes BEGIN
      INSERT INTO ticks VALUES(1);
      UPDATE notes SET changed = (SELECT 'made ' || hex(randomblob(4))) WHERE rowid = new.rowid;
      INSERT INTO words VALUES(new.id, new.title);
    END;
    CREATE TRIGGER changed AFTER UPDATE OF title ON notes BEGIN
      INSERT INTO ticks VALUES(1);
      UPDATE notes SET changed = (SELECT 'changed ' || hex(randomblob(4))) WHERE rowid = new.rowid;
      UPDATE words SET title = new.title WHERE note = new.id;
    END;
    """
  private static let triggers = """
    SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name NOT LIKE 'cloudsync%'
    """
  private static let notes = "SELECT * FROM notes ORDER BY id"

  @Test("What they change in a row that came from the cloud is taken back; the rest of it stays")
  func changedRows() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    let before = try phone.lines(Self.triggers)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'Tea'), ('b', 'Cup')")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try phone.lines("SELECT * FROM words ORDER BY 1") == ["'a'|'Tea'", "'b'|'Cup'"])

    try phone.execute("UPDATE notes SET title = 'Pot' WHERE id = 'b'", at: 5_000_000)
    try mac.execute("UPDATE notes SET title = title || '!' WHERE id = 'a'", at: 5_000_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try mac.lines("SELECT title FROM notes ORDER BY id") == ["'Tea!'", "'Pot'"])
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM words ORDER BY 1") == ["'a'|'Tea!'", "'b'|'Pot'"])
      // Two inserts and two updates, wherever they were made; nothing goes to and fro.
      #expect(try device.lines("SELECT count(*) FROM ticks") == ["4"])
      #expect(try device.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
    }
    #expect(try phone.lines(Self.triggers) == before)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("The schema stays as it is while rows get back what triggers have changed")
  func schemaVersion() throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, changed TEXT, code TEXT UNIQUE);
      CREATE TABLE parts(
        id TEXT PRIMARY KEY NOT NULL, code TEXT REFERENCES notes(code) ON UPDATE CASCADE
      );
      CREATE TRIGGER touch AFTER UPDATE ON notes BEGIN
        UPDATE notes SET changed = hex(randomblob(4)), code = new.title WHERE id = new.id;
      END;
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let (bench, mac, phone) = try SyncHarness.pair(
      schema,
      tables: ["notes", "parts"],
      options: options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'never', 'A')", at: 1_000)
    try mac.execute("INSERT INTO parts VALUES('p', 'A')", at: 1_000)
    try bench.sync(mac, phone)
    let version = try phone.lines("PRAGMA schema_version")
    for number in 0..<3 {
      try mac.execute("UPDATE notes SET title = 'B\(number)'", at: 2_000 + Int64(number))
      try bench.sync(mac, phone)
    }
    try bench.sync(mac, phone)

    #expect(try phone.lines("PRAGMA schema_version") == version)
    for table in ["notes", "parts"] {
      let rows = try mac.lines("SELECT * FROM \(table)")
      #expect(try phone.lines("SELECT * FROM \(table)") == rows)
    }
    #expect(try phone.lines("SELECT notes.title FROM parts JOIN notes USING(code)") == ["'B2'"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A trigger can tell the engine's writes from the user's: an audit is not doubled")
  func audit() throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE audit(id TEXT PRIMARY KEY NOT NULL, note TEXT);
      """
    let trigger = """
      CREATE TRIGGER audited AFTER INSERT ON notes
      WHEN NOT (SELECT is_synchronizing FROM cloudsync_activity) BEGIN
        INSERT INTO audit VALUES(hex(randomblob(8)), new.id);
      END
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "audit"])
    for device in [mac, phone] { try device.execute(trigger) }
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try phone.execute("INSERT INTO notes VALUES('b', 'B')")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT note FROM audit ORDER BY note") == ["'a'", "'b'"])
      #expect(try device.lines("SELECT is_synchronizing FROM cloudsync_activity") == ["0"])
    }
    // Without the engine it would fail every insertion.
    let error = #expect(throws: SyncEngineError.self) { try mac.engine.tearDown() }
    #expect(error?.reason.contains("trigger \"audited\" of the app") == true)
    #expect(throws: SyncEngineError.self) { try SyncMetadata.remove(from: phone.database) }
    #expect(mac.engine.isRunning)
    try mac.execute("DROP TRIGGER audited")
    try mac.engine.tearDown()
    try mac.execute("INSERT INTO notes VALUES('c', 'C')")
    #expect(try mac.lines("SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'") == [])
  }
}
