import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What an engine for fewer tables meets counts for the tables that it leaves out, too.
@Suite("A zone that is lost while an engine leaves a table out")
struct LeftTableZoneTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    """
  private static let tables = ["lists", "notes"]
  private static let notes = "SELECT id, title FROM notes ORDER BY id"
  private let owner = AccountIdentity("owner")

  /// Of engines that erase their rows with a zone that the user has purged.
  private static let erasing: SyncEngineOptions = {
    var options = SyncEngineOptions()
    options.zoneLost = { $0 == .purged ? .deleteLocalData : .wait }
    return options
  }()

  private func erasingPair(
    _ schema: String
  ) throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    try SyncHarness.pair(schema, tables: Self.tables, options: Self.erasing)
  }

  @Test(
    "Its edits win over what another device has uploaded again, and its rows are not taken for deleted"
  )
  func lost() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'A')",
      at: 1_000
    )
    try bench.sync(mac, phone)
    phone.engine.stop()
    // Only one of them has this row.
    try mac.execute("INSERT INTO notes VALUES('b', 'B')", at: 2_000)
    try bench.sync(mac)
    try bench.restart(mac, ["lists"])
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 3_000)
    try bench.deleteZone()
    try bench.sync(phone)
    try bench.sync(mac)
    try bench.restart(mac, Self.tables)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|'A2'", "'b'|'B'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    // What is known of the table is of the present zone from then on.
    try bench.restart(mac, Self.tables)
    try phone.execute("DELETE FROM notes WHERE id = 'b'", at: 4_000)
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.notes) == ["'a'|'A2'"])
  }

  @Test(
    "Its rows are erased with the zone, whoever has decided that, but for those that were never sent",
    arguments: [true, false]
  )
  func erased(decidesHere: Bool) throws {
    let (bench, mac, phone) = try erasingPair(Self.schema)
    try mac.execute("INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try bench.restart(mac, ["lists"], Self.erasing)
    try mac.execute("INSERT INTO notes VALUES('b', 'B')")
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    if !decidesHere { try bench.sync(phone) }
    try bench.sync(mac)
    #expect(try mac.lines("SELECT id FROM lists") == [])
    try bench.restart(mac, Self.tables, Self.erasing)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'b'|'B'"])
    #expect(try phone.lines(Self.notes) == ["'b'|'B'"])
    #expect(try bench.cloudNames() == ["b:notes"])
  }

  @Test("An engine for all tables that runs beside it takes the zone's loss for the others")
  func beside() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes VALUES('a', 'A')", at: 1_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("INSERT INTO notes VALUES('b', 'B')", at: 2_000)
    try bench.sync(mac)
    let widget = try bench.engine("mac", mac.database, ["lists"])
    try widget.start()
    bench.world.advance(by: .seconds(30))
    try bench.deleteZone()
    try bench.sync(phone)
    widget.fetchChanges()
    bench.world.advance(by: .seconds(30))
    widget.stop()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'b'|'B'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  /// A table that nobody synchronizes refers to a note, and the note to a list.
  private static let family = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, title TEXT, list TEXT REFERENCES lists ON DELETE CASCADE);
    CREATE TABLE marks(id INTEGER PRIMARY KEY, note TEXT NOT NULL REFERENCES notes);
    """

  @Test(
    "A row to which a table refers that is left out stays when the zone is erased, and goes to the cloud again",
    arguments: [true, false]
  )
  func referredTo(decidesHere: Bool) throws {
    let (bench, mac, phone) = try erasingPair(Self.family)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L'), ('m', 'M');
      INSERT INTO notes VALUES('a', 'A', 'l'), ('b', 'B', 'l'), ('c', 'C', 'm');
      """
    )
    try bench.sync(mac, phone)
    try mac.execute("INSERT INTO marks VALUES(1, 'a')")
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    if !decidesHere { try bench.sync(phone) }
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines(Self.notes) == ["'a'|'A'"])
    #expect(try mac.lines("SELECT id, list FROM notes") == ["'a'|'l'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try phone.lines("SELECT id FROM lists") == ["'l'"])
    #expect(try bench.cloudNames() == ["a:notes", "l:lists"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A trigger that lets a row not go keeps it when the zone is erased, and stops nobody")
  func keptByTrigger() throws {
    let (bench, mac, phone) = try erasingPair(Self.schema)
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    try mac.execute(
      """
      CREATE TRIGGER pinned BEFORE DELETE ON notes WHEN old.id = 'a'
      BEGIN SELECT RAISE(ABORT, 'a note that is pinned stays'); END
      """
    )
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines(Self.notes) == ["'a'|'A'"])
    #expect(try phone.lines(Self.notes) == [])
    let refused = try bench.unclean(mac)
    #expect(refused.count == 1 && refused[0].contains("a note that is pinned stays"))
    try mac.execute("DROP TRIGGER pinned")
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.notes) == [] && bench.unclean(mac) == [])
  }

  // MARK: Parents that go

  private static func children(_ action: String) -> String {
    """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, title TEXT,
      list TEXT DEFAULT 'm' REFERENCES lists \(action));
    """
  }

  @Test(
    "What a deleted parent does to rows of a table that is left out is nobody's edit",
    arguments: ["ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT", ""]
  )
  func parentGoes(action: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.children(action), tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L'), ('m', 'M'), ('n', 'N');
      INSERT INTO notes VALUES('a', 'A', 'l'), ('b', 'B', 'l'), ('c', 'C', 'm');
      """
    )
    try bench.sync(mac, phone)
    try bench.restart(mac, ["lists"])
    try phone.execute(
      """
      UPDATE notes SET list = 'n', title = 'A2' WHERE id = 'a';
      UPDATE notes SET list = 'm' WHERE id = 'b';
      DELETE FROM lists WHERE id = 'l';
      """
    )
    try bench.sync(phone, mac, phone)
    // Where the database keeps the parent for their sake, it comes back.
    let kept = action.isEmpty ? ["'l'", "'m'", "'n'"] : ["'m'", "'n'"]
    #expect(try mac.lines("SELECT id FROM lists") == kept)
    try bench.restart(mac, Self.tables)
    try bench.sync(mac, phone, mac)

    let rows = "SELECT id, title, list FROM notes ORDER BY id"
    #expect(try mac.lines(rows) == ["'a'|'A2'|'n'", "'b'|'B'|'m'", "'c'|'C'|'m'"])
    #expect(try phone.lines(rows) == mac.lines(rows))
    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM lists") == kept)
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("An edit of the app's in a table that is left out stays one, whatever goes beside it")
  func editedMeanwhile() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.children("ON DELETE CASCADE"),
      tables: Self.tables
    )
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L'), ('m', 'M');
      INSERT INTO notes VALUES('a', 'A', 'l'), ('b', 'B', 'm'), ('c', 'C', 'm');
      """
    )
    try bench.sync(mac, phone)
    try bench.restart(mac, ["lists"])
    try mac.execute(
      "UPDATE notes SET title = 'B2' WHERE id = 'b'; DELETE FROM notes WHERE id = 'c'"
    )
    try phone.execute("DELETE FROM lists WHERE id = 'l'")
    try bench.sync(phone, mac)
    try bench.restart(mac, Self.tables)
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines(Self.notes) == ["'b'|'B2'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
  }

  @Test(
    "Edits after what was taken out of the outbox are read, and so is what the app's triggers write",
    arguments: [true, false]
  )
  func numbersGivenAgain(hasTrigger: Bool) throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, code TEXT UNIQUE);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL DEFAULT 0,
        list TEXT REFERENCES lists ON DELETE CASCADE);
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: Self.tables, options: options)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L', '1'), ('m', 'M', '2'), ('x', 'X', '3');
      INSERT INTO notes(id, list) VALUES('a', 'l'), ('b', 'l'), ('c', 'l'), ('d', 'm');
      """,
      at: 1_000
    )
    try bench.sync(mac, phone)
    try bench.restart(mac, ["lists"], options)
    if hasTrigger {
      try mac.execute(
        """
        CREATE TRIGGER counted AFTER UPDATE OF name ON lists BEGIN
          UPDATE notes SET n = n + 1 WHERE list = new.id;
        END;
        """
      )
    }
    try mac.execute("INSERT INTO lists VALUES('o', 'O', 'C')", at: 2_000)
    // A page takes notes along, and has another list give way, for which the outbox is read.
    try phone.execute(
      "DELETE FROM lists WHERE id = 'l'; UPDATE lists SET name = 'L', code = 'C' WHERE id = 'm'",
      at: 3_000
    )
    try bench.sync(phone, mac)
    try mac.execute("UPDATE lists SET name = 'mine' WHERE id = 'x'", at: 4_000)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT name FROM lists WHERE id = 'x'") == ["'mine'"])
    try bench.restart(mac, Self.tables, options)
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      let notes = try device.lines("SELECT * FROM notes ORDER BY id")
      #expect(notes == ["'d'|\(hasTrigger ? 1 : 0)|'m'"], "\(device.name)")
      #expect(try bench.unclean(device).allSatisfy { $0.hasPrefix("'o:lists'") }, "\(device.name)")
    }
  }
}
