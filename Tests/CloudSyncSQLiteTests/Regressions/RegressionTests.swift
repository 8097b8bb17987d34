import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What users of the engine that was studied complain of, as far as no other suite has it: see part A
/// of the study, by whose issues the tests are named.
@Suite("Known complaints")
struct RegressionTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT, stars INTEGER
    );
    """
  private static let tables = ["lists", "notes"]

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(Self.schema, tables: Self.tables)
  }

  @Test("#335, #547: a full cloud loses no save, and takes no child whose parent it did not take")
  func quota() throws {
    let (bench, mac, phone) = try pair()
    let owner = AccountIdentity("owner")
    try bench.sync(mac, phone)
    try bench.cloud.setQuota(100, account: owner)
    try mac.execute(
      "INSERT INTO lists VALUES('l', '\(String(repeating: "long", count: 100))');"
        + "INSERT INTO notes VALUES('a', 'l', 'Tea', 1), ('b', 'l', 'Cup', 2)"
    )
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'"])
    #expect(try mac.lines("SELECT count(*) FROM lists") == ["1"])
    #expect(try bench.unclean(mac).isEmpty == false)

    try bench.cloud.setQuota(nil, account: owner)
    try mac.engine.retryParked()
    mac.engine.session?.start()
    bench.world.advance(by: .seconds(3_600))
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("#418: what is made again after a deletion stays, whatever a page told in between")
  func madeAgain() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes VALUES('a', NULL, 'first', 1)", at: 1_000)
    try bench.sync(mac)
    try phone.execute("INSERT INTO notes VALUES('a', NULL, 'phone', 2)", at: 9_000_000)

    mac.engine.session?.stop()
    try mac.execute("DELETE FROM notes", at: 7_000_000)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    try mac.execute("INSERT INTO notes VALUES('a', NULL, 'again', 3)", at: 8_000_000)
    try bench.sync(phone)
    // The page comes first, then the deletion goes, then the row that was made again.
    mac.engine.fetchChanges()
    mac.engine.session?.start()
    bench.world.advance(by: .seconds(60))
    try bench.sync(mac, phone)
    try bench.sync(mac)

    #expect(try mac.lines("SELECT id FROM notes") == ["'a'"])
    #expect(try phone.lines("SELECT * FROM notes") == mac.lines("SELECT * FROM notes"))
  }

  @Test("What is set to NULL while an older save of the row waits in the session stays NULL")
  func nullAfterParkedSave() throws {
    let (bench, mac, phone) = try pair()
    let owner = AccountIdentity("owner")
    try bench.sync(mac, phone)
    try bench.cloud.setQuota(100, account: owner)
    let text = String(repeating: "long", count: 100)
    try mac.execute("INSERT INTO notes VALUES('a', NULL, '\(text)', 1)")
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET title = NULL, stars = 2")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))

    try bench.cloud.setQuota(nil, account: owner)
    try mac.engine.retryParked()
    mac.engine.session?.start()
    bench.world.advance(by: .seconds(3_600))
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|NULL|NULL|2"])
    #expect(try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes"))
  }

  @Test("#354, #274: every column has its own time, and the newest edit of each is everywhere")
  func columnTimes() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes VALUES('a', NULL, 'Tea', 1)", at: 1_000)
    try bench.sync(mac, phone)

    // The row's last edit is the mac's; that of the title is the phone's.
    try mac.execute("UPDATE notes SET title = 'older'", at: 5_000_000)
    try phone.execute("UPDATE notes SET title = 'newer'", at: 6_000_000)
    try mac.execute("UPDATE notes SET stars = 9", at: 7_000_000)
    try bench.sync(mac, phone)
    try bench.sync(mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT title, stars FROM notes") == ["'newer'|9"])
    }
  }

  @Test("An edit and its capture are one: what is rolled back is never sent, what is committed is")
  func captureIsTransactional() throws {
    let (bench, mac, phone) = try pair()
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute(
      "BEGIN; INSERT INTO notes(id) VALUES('never'); ROLLBACK;"
        + "BEGIN; INSERT INTO notes(id) VALUES('a'); COMMIT"
    )
    #expect(try mac.lines("SELECT count(*) FROM cloudsync_outbox") == ["1"])
    // The process ends here; another one goes on.
    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id FROM notes") == ["'a'"])
  }

  @Test("Another connection's edits are sent, made with no engine there, or beside one that runs")
  func otherConnections() throws {
    let bench = SyncHarness()
    let folder = try TestFolder("complaints")
    let path = folder.file("data.sqlite")
    let app = try DatabaseFile(path: path, createsFile: true)
    try app.execute(Self.schema)
    let mac = SyncHarness.Device("mac", app, try bench.engine("mac", app, Self.tables))
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)

    let widget = try DatabaseFile(path: path)
    try widget.execute("INSERT INTO notes(id, title) VALUES('a', 'Tea')")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT title FROM notes") == ["'Tea'"])

    try widget.execute("UPDATE notes SET title = 'Cup'")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT title FROM notes") == ["'Cup'"])

    mac.engine.stop()
    try widget.execute("DELETE FROM notes")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == [])
  }

  @Test("Rows of new tables come parents first, whatever the tables' names")
  func newTables() throws {
    let bench = SyncHarness()
    let new = """
      CREATE TABLE z_roots(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE a_leaves(
        id TEXT PRIMARY KEY NOT NULL, root TEXT NOT NULL DEFAULT '' REFERENCES z_roots(id)
      );
      """
    let tables = ["a_leaves", "lists", "notes", "z_roots"]
    let mac = try bench.device("mac", Self.schema + new, tables: tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      "INSERT INTO z_roots VALUES('r', 'Root'); INSERT INTO a_leaves VALUES('x', 'r'), ('y', 'r')"
    )
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute(new)
    phone.engine = try bench.engine("phone", phone.database, tables)
    phone.listen()
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT * FROM a_leaves ORDER BY id") == ["'x'|'r'", "'y'|'r'"])
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A number that is a date is the same after a round, and no edit", arguments: [0.1, 1e300])
  func dates(value: Double) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes(id, stars) VALUES('a', \(value) + 1.0 / 3)")
    try bench.sync(mac, phone)
    let stored = try mac.lines("SELECT stars FROM notes")
    #expect(try phone.lines("SELECT stars FROM notes") == stored)
    try phone.execute("UPDATE notes SET stars = stars")
    #expect(try phone.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
  }

  @Test("Names with colons, an underscore or other letters come over", arguments: ["_é:t", ":"])
  func names(key: String) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes(id, title) VALUES('\(key)', 'Tea')")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id, title FROM notes") == ["'\(key)'|'Tea'"])
    #expect(try bench.unclean(mac) == [])
  }
}
