import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("SyncEngine.verify")
struct VerificationTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE marks(a INTEGER NOT NULL, b TEXT NOT NULL COLLATE NOCASE, n, PRIMARY KEY(a, b));
    """
  private static let tables = ["lists", "marks"]

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('a', 'A'), ('b', 'B'), ('c', NULL);
      INSERT INTO marks VALUES(1, 'X', 1.5), (2, 'y', x'00')
      """
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private func words(_ verification: SyncVerification) -> [String] {
    verification.differences.map { "\($0.table ?? "-") \($0.key ?? "-"): \($0.reason)" }
  }

  @Test("Where all is in step nothing differs, tombstones and edits on their way included")
  func well() async throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("DELETE FROM lists WHERE id = 'c'; UPDATE marks SET b = 'x', n = 2 WHERE a = 1")
    try bench.sync(mac, phone)
    try phone.execute(
      "UPDATE lists SET title = 'BB' WHERE id = 'b'; INSERT INTO lists(id) VALUES('d')"
    )
    phone.engine.stop()

    for device in [mac, phone] {
      let verification = try await device.engine.verify()
      #expect(words(verification) == [], "\(device.name)")
      #expect(verification.records == 5 && verification.tombstones == 1)
    }
    let open = try await phone.engine.verify()
    #expect(open.rows == 5 && open.openRows == 1)
  }

  @Test("A row that was edited here and deleted elsewhere is in step, whatever is remembered of it")
  func endedEdit() async throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE lists SET id = 'k' WHERE id = 'a'", at: 2_000)
    try bench.sync(mac, phone)
    try phone.execute("DELETE FROM lists WHERE id = 'k'", at: 3_000)
    try bench.sync(phone)
    try mac.execute("UPDATE lists SET title = 'edited' WHERE id = 'k'", at: 4_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      let verification = try await device.engine.verify()
      #expect(words(verification) == [] && verification.openRows == 0, "\(device.name)")
    }
  }

  @Test("An edit that another device has made too, and that came with the outbox, is no unseen one")
  func sameEdit() async throws {
    let (bench, mac, phone) = try pair()
    for device in [mac, phone] {
      try device.execute("UPDATE lists SET title = 'new' WHERE id = 'a'")
    }
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    // The edit is read in the transaction that stores the page.
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(30))

    #expect(words(try await mac.engine.verify()) == [])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("What was changed unseen, and what the cloud has otherwise, is named")
  func differences() async throws {
    let (bench, mac, phone) = try pair()
    phone.engine.stop()
    try mac.execute(
      """
      DELETE FROM lists WHERE id = 'a'; UPDATE lists SET title = 'new' WHERE id = 'b';
      INSERT INTO lists VALUES('new', 'N')
      """
    )
    try bench.sync(mac)
    // Nobody captures what a connection without triggers does.
    try phone.execute("UPDATE cloudsync_clock SET own_table = 2, own_all = 1")
    try phone.execute("UPDATE marks SET n = 7 WHERE a = 1; INSERT INTO marks VALUES(3, 'z', 1)")
    try phone.execute("DELETE FROM marks WHERE a = 2")
    try phone.execute("UPDATE cloudsync_clock SET own_table = NULL, own_all = NULL")

    let verification = try await phone.engine.verify()

    let gone = "the row was deleted without its triggers"
    let newer = "the cloud has another version than the one that is known here"
    #expect(
      Set(words(verification)) == [
        "marks 1,'x': the row was changed without its triggers",
        "marks 3,'z': nothing is known of the row", "marks 2,'y': \(gone)", "lists 'a': \(newer)",
        "lists 'b': \(newer)",
        "lists 'new': the cloud has the row, and nothing is known of it here",
        "marks 1,'x': the cloud has other values in n",
      ]
    )
  }

  @Test("Rows that the cloud has lost are named, and a cloud that cannot be asked is an error")
  func lostRows() async throws {
    let (bench, mac, _) = try pair()
    mac.engine.stop()
    try bench.cloud.deleteZone(bench.zoneID, account: AccountIdentity("owner"))
    let reasons = try await mac.engine.verify().differences.map(\.reason)
    #expect(reasons == Array(repeating: "the cloud does not have the row any more", count: 5))

    try bench.cloud.setAccountStatus(.temporarilyUnavailable, account: AccountIdentity("owner"))
    await #expect(throws: SyncError.self) { try await mac.engine.verify() }
  }

  @Test("A column that was dropped here, and keys that SQL writes otherwise, are no difference")
  func dropped() async throws {
    let schema =
      "CREATE TABLE notes(a REAL NOT NULL, b TEXT NOT NULL, v, w, PRIMARY KEY(a, b))"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES(1e300, 'x', 1, 2), (1.5, 'y', 3, 4)")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try SyncEngine.withoutCapture(of: ["notes"], in: phone.database) {
      try phone.database.execute("ALTER TABLE notes DROP COLUMN w")
    }
    try bench.restart(phone, ["notes"])
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(words(try await device.engine.verify()) == [], "\(device.name)")
    }
  }

  @Test("A zero whose sign nobody can tell from SQL is no difference")
  func zero() async throws {
    var options = SyncEngineOptions()
    options.tables["t", default: .init()].merging.columns["n"] = .counter
    let schema = """
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b BLOB, c REAL, d INTEGER, e NUMERIC, f TEXT, n);
      CREATE TABLE s(id TEXT PRIMARY KEY NOT NULL, a ANY, b REAL, c INTEGER) STRICT
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["t", "s"], options: options)
    for (number, device) in [("0.0", mac), ("-0.0", phone), ("0.0", phone), ("-0.0", mac)] {
      try device.execute(
        """
        INSERT OR IGNORE INTO t(id) VALUES('1'), ('\(device.name)'); INSERT OR IGNORE INTO s(id) VALUES('1');
        UPDATE t SET a = \(number), b = \(number), c = \(number), d = \(number), e = \(number), f = \(number), n = \(number);
        UPDATE s SET a = \(number), b = \(number), c = \(number)
        """
      )
      try bench.sync(mac, phone)
      for device in [mac, phone] {
        #expect(try bench.unclean(device) == [])
        #expect(words(try await device.engine.verify()) == [], "\(device.name) \(number)")
        #expect(try device.lines("SELECT count(*) FROM t WHERE a <> 0 OR n <> 0") == ["0"])
      }
    }
  }

  @Test("What a column of another type makes of the cloud's values is no difference")
  func otherType() async throws {
    let bench = SyncHarness()
    let numbers = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INTEGER, x)"
    let texts = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n TEXT, x)"
    let mac = try bench.device("mac", numbers, tables: ["t"])
    let phone = try bench.device("phone", texts, tables: ["t"])
    try mac.execute("INSERT INTO t VALUES('a', 5, 1), ('b', 6, 2), ('c', 'six', 3)")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE t SET n = '7' WHERE id = 'b'; INSERT INTO t VALUES('d', '12', 4)")
    try bench.sync(phone, mac)

    #expect(try mac.lines("SELECT n FROM t ORDER BY id") == ["5", "7", "'six'", "12"])
    #expect(try phone.lines("SELECT n FROM t ORDER BY id") == ["'5'", "'7'", "'six'", "'12'"])
    for device in [mac, phone] {
      #expect(words(try await device.engine.verify()) == [], "\(device.name)")
    }
    // A difference is one all the same.
    mac.engine.stop()
    try SyncEngine.withoutCapture(of: ["t"], in: mac.database) {
      try mac.database.execute("UPDATE t SET n = 8 WHERE id = 'b'")
    }
    #expect(words(try await mac.engine.verify()).contains { $0.contains("'b'") })
  }
}
