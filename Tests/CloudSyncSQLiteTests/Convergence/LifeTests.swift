import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Rows that are edited, deleted and made again on several devices")
struct LifeTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT * FROM notes ORDER BY id"

  private func pair(
    _ deletes: DeletePolicy
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.merging = TableMergePolicy(deletes: deletes)
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'one', 1)", at: 1_000)
    try bench.sync(mac, phone)
    mac.engine.stop()
    phone.engine.stop()
    return (bench, mac, phone)
  }

  /// All orders in which an edit and a deletion are made and come to the cloud.
  @Test(
    "An edit and a deletion: all devices have the same, as the policy says",
    arguments: SuiteSize.pairs(
      2,
      [DeletePolicy.deleteWins, .editWins],
      [(editIsFirst: true, macIsFirst: true), (true, false), (false, true), (false, false)]
    )
  )
  func editAndDeletion(
    deletes: DeletePolicy,
    order: (editIsFirst: Bool, macIsFirst: Bool)
  ) throws {
    let (bench, mac, phone) = try pair(deletes)
    try phone.execute(
      "UPDATE notes SET title = 'two' WHERE id = 'a'",
      at: order.editIsFirst ? 2_000 : 4_000
    )
    try mac.execute("DELETE FROM notes", at: 3_000)
    if order.macIsFirst {
      try bench.sync(mac, phone, mac)
    } else {
      try bench.sync(phone, mac, phone)
    }

    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
    // The deleter had not seen the edit, whenever that was made.
    #expect(try mac.lines(Self.query) == (deletes == .editWins ? ["'a'|'two'|1"] : []))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "An older deletion does not end a row that was made anew since, whoever syncs last",
    arguments: SuiteSize.pairs(2, [DeletePolicy.deleteWins, .editWins], [true, false])
  )
  func madeAgain(deletes: DeletePolicy, deleterIsLast: Bool) throws {
    let (bench, mac, phone) = try pair(deletes)
    try mac.execute("DELETE FROM notes", at: 2_000)
    try phone.execute("DELETE FROM notes", at: 3_000)
    try phone.execute("INSERT INTO notes VALUES('a', 'new', NULL)", at: 4_000)
    if deleterIsLast { try bench.sync(phone, mac, phone) } else { try bench.sync(mac, phone, mac) }

    #expect(try mac.lines(Self.query) == ["'a'|'new'|NULL"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
  }

  @Test(
    "What a deletion has ended does not come back with an older edit",
    arguments: [true, false]
  )
  func endedEdits(editorIsFirst: Bool) throws {
    let (bench, mac, phone) = try pair(.deleteWins)
    try phone.execute("UPDATE notes SET title = 'old' WHERE id = 'a'", at: 2_000)
    try mac.execute("DELETE FROM notes; INSERT INTO notes(id) VALUES('a')", at: 3_000)
    if editorIsFirst { try bench.sync(phone, mac, phone) } else { try bench.sync(mac, phone, mac) }

    #expect(try mac.lines(Self.query) == ["'a'|NULL|NULL"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
  }

  @Test(
    "A deletion ends a row that was made anew before it elsewhere, and rows let go of it; one made since stays",
    arguments: [(deleted: 2_500 as Int64, stays: true), (4_000, false)]
  )
  func parentMadeAnew(deleted: Int64, stays: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE SET NULL
      )
      """,
      tables: ["lists", "notes"]
    )
    try mac.execute("INSERT INTO lists VALUES('l')", at: 1_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("DELETE FROM lists", at: 2_000)
    try mac.execute("INSERT INTO lists VALUES('l')", at: 3_000)
    try mac.execute("INSERT INTO notes VALUES('n', 'l')", at: 3_500)
    try bench.sync(mac)
    // It has not heard of the second one.
    try phone.execute("DELETE FROM lists", at: deleted)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM lists") == (stays ? ["'l'"] : []))
      #expect(try device.lines("SELECT list FROM notes") == [stays ? "'l'" : "NULL"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Where edits win, an edit outlives a deletion that no trigger has captured")
  func uncapturedDeletion() throws {
    let (bench, mac, phone) = try pair(.editWins)
    try phone.execute("UPDATE notes SET title = 'two'", at: 2_000)
    // A migration that makes the table anew takes the triggers along.
    try mac.execute(
      """
      ALTER TABLE notes RENAME TO former; \(Self.schema);
      INSERT INTO notes SELECT * FROM former; DROP TABLE former;
      DELETE FROM notes
      """,
      at: 3_000
    )
    var options = SyncEngineOptions()
    options.defaultTable.merging = TableMergePolicy(deletes: .editWins)
    try bench.restart(mac, ["notes"], options)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'two'|1"])
    #expect(try phone.lines(Self.query) == ["'a'|'two'|1"])
  }

  @Test("Values that were there before the first sync: the cloud's stay, on all devices")
  func valuesBefore() throws {
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      Self.schema + "; INSERT INTO notes VALUES('1', 'one', 1), ('2', 'mine', 2)",
      tables: ["notes"]
    )
    let phone = try bench.device(
      "phone",
      Self.schema + "; INSERT INTO notes VALUES('1', 'two', 2), ('3', 'its', 3)",
      tables: ["notes"]
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'1'|'one'|1", "'2'|'mine'|2", "'3'|'its'|3"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])

    // Detached, changed and attached again.
    try phone.engine.tearDown()
    try phone.database.execute("UPDATE notes SET title = 'changed' WHERE id = '1'")
    phone.engine = try bench.engine("phone", phone.database, ["notes"])
    phone.listen()
    try bench.sync(phone, mac)
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try mac.lines(Self.query).first == "'1'|'one'|1")
  }

  @Test("A row that is made again right after its deletion outranks the one that others bring back")
  func madeAgainBesideRestoration() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id));
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["lists", "notes"])
    try mac.execute("INSERT INTO lists VALUES('l', 'the old one')", at: 1_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('n', 'l')", at: 1_500)
    try mac.execute("DELETE FROM lists", at: 2_000)
    try bench.sync(mac)
    mac.engine.stop()
    try mac.execute("INSERT INTO lists VALUES('l', 'a new one')", at: 2_000)
    // It does not know of the new one, and brings the old one back for the note.
    try bench.sync(phone)
    #expect(try phone.lines("SELECT * FROM lists") == ["'l'|'the old one'"])
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM lists") == ["'l'|'a new one'"])
      #expect(try device.lines("SELECT * FROM notes") == ["'n'|'l'"])
    }
  }
}
