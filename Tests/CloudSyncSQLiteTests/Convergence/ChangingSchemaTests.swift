import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// The engine notices that somebody has changed the schema, and reads its tables anew.
@Suite("A schema that changes while an engine runs")
struct ChangingSchemaTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  @Test("Edits of a column that is added are captured from then on, and the newest stays")
  func added() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    for device in [mac, phone] { try device.execute("ALTER TABLE notes ADD COLUMN x TEXT") }
    try mac.execute("UPDATE notes SET x = 'first'", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT x FROM notes") == ["'first'"])
    try phone.execute("UPDATE notes SET x = 'second'", at: 1_700_000_900_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT x FROM notes") == ["'second'"])
      #expect(try bench.unclean(device) == [])
      #expect(device.failures.isEmpty)
    }
  }

  @Test(
    "What a new column is filled with is no edit that undoes a deletion",
    arguments: ["", "UPDATE notes SET k = 7"]
  )
  func deletedAfterRebuild(filling: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('z', 'Z')")
    try bench.sync(mac, phone)
    let rebuilding = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, k INTEGER NOT NULL DEFAULT 5);
      INSERT INTO fresh(id, title) SELECT id, title FROM notes;
      DROP TABLE notes; ALTER TABLE fresh RENAME TO notes;
      """
    try bench.restart(mac, ["notes"], after: rebuilding + filling)
    try bench.sync(mac)
    // Nobody has captured the deletion.
    try bench.restart(phone, ["notes"], after: rebuilding + "DELETE FROM notes WHERE id = 'z'")
    try bench.sync(phone, mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM notes") == ["'a'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("The newer edit of a renamed column stays once both sides have renamed it")
  func renamed() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    try mac.execute("ALTER TABLE notes RENAME COLUMN title TO name")
    try mac.execute("UPDATE notes SET name = 'A2'")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT title FROM notes") == ["'A'"])
    try phone.execute("UPDATE notes SET title = 'B'")
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT name FROM notes") == ["'A2'"])

    try phone.execute("ALTER TABLE notes RENAME COLUMN title TO name")
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT name FROM notes") == ["'B'"])
      #expect(device.failures.isEmpty)
    }
  }

  @Test("A table that is rebuilt between the making of an engine and its start is captured")
  func rebuiltBeforeStart() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute(
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT); INSERT INTO fresh SELECT * FROM notes;
      DROP TABLE notes; ALTER TABLE fresh RENAME TO notes;
      """
    )
    try bench.sync(mac, phone)
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'A'"])
  }

  @Test("A unique key that is added decides from then on")
  func uniqueKey() throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .merge
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"], options: options)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      try device.execute("CREATE UNIQUE INDEX by_title ON notes(title)")
    }
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try phone.execute("INSERT INTO notes VALUES('b', 'A')")
    for _ in 0..<3 { try bench.sync(mac, phone) }
    #expect(try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes"))
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  @Test("What a new trigger changes in a row that came is taken back")
  func trigger() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    try phone.execute(
      """
      CREATE TRIGGER touch AFTER UPDATE ON notes
        BEGIN UPDATE notes SET title = new.title || '!' WHERE id = new.id; END
      """
    )
    try mac.execute("UPDATE notes SET title = 'A2'")
    for _ in 0..<3 { try bench.sync(mac, phone) }
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'A2'"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'A2'"])
  }

  @Test("Somebody who waits for a synchronization is told of its end, not of the change")
  func waiting() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    try mac.execute("ALTER TABLE notes ADD COLUMN x TEXT; INSERT INTO notes VALUES('a', 'A', 'X')")
    let outcomes = Locked<[SyncOutcome]>([])
    mac.engine.syncChanges { outcome in outcomes.withLock { $0.append(outcome) } }
    bench.world.advance(by: .seconds(30))
    #expect(outcomes.withLock { $0 }.map { "\($0)" } == ["done"])
    #expect(try bench.unclean(mac) == [])
    #expect(try bench.cloudNames() == ["a:notes"])
  }

  // MARK: Two engines

  /// An app whose widget's engine is older than the migration of the app.
  private func widget() throws -> (
    SyncHarness, app: SyncHarness.Device, widget: SyncEngine, phone: SyncHarness.Device
  ) {
    let (bench, app, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    let widget = try bench.engine("app", app.database, ["notes"])
    try widget.start()
    try app.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(app, phone)
    try bench.restart(app, ["notes"], after: "ALTER TABLE notes ADD COLUMN x TEXT")
    return (bench, app, widget, phone)
  }

  @Test("An edit of a new column that the engine of another program reads is not lost")
  func editedBesideAnOlderEngine() throws {
    let (bench, app, widget, phone) = try widget()
    try app.execute("UPDATE notes SET x = 'X', title = 'A2'")
    widget.sendChanges()
    bench.world.advance(by: .seconds(30))
    try bench.sync(app, phone)
    try bench.restart(phone, ["notes"], after: "ALTER TABLE notes ADD COLUMN x TEXT")
    try bench.sync(app, phone)
    #expect(try app.lines("SELECT title, x FROM notes") == ["'A2'|'X'"])
    #expect(try phone.lines("SELECT title, x FROM notes") == ["'A2'|'X'"])
  }

  @Test("It does not take for damage what the newer one has stored")
  func noDamage() throws {
    let (bench, app, widget, phone) = try widget()
    let failures = Locked<[String]>([])
    widget.errors.sink { error in failures.withLock { $0.append(error.description) } }
    try bench.sync(app, phone)
    try app.execute("UPDATE notes SET x = 'X'")
    try bench.sync(app, phone)
    try phone.execute("UPDATE notes SET title = 'B'")
    try bench.sync(phone)
    widget.fetchChanges()
    bench.world.advance(by: .seconds(30))
    #expect(failures.withLock { $0 } == [])
    #expect(widget.isRunning)
    #expect(try app.lines("SELECT title, x FROM notes") == ["'B'|'X'"])
  }
}
