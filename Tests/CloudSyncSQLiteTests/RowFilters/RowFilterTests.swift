import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Rows that stay on a device by their table's row filter")
struct RowFilterTests {
  static let schema = """
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT, private INTEGER NOT NULL DEFAULT 0
    )
    """
  static let tables = ["notes"]

  /// Options by which rows of the table are sent that match.
  static func options(
    _ filter: String? = "private = 0",
    of table: String = "notes",
    deletes: DeletePolicy = .deleteWins
  ) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.tables[table] = SyncEngineOptions.Table()
    options.tables[table]?.rowFilter = filter
    options.tables[table]?.merging.deletes = deletes
    return options
  }

  /// A device with the filter, and one that sends all of its rows.
  static func pair(
    _ options: SyncEngineOptions = options()
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    return (
      bench,
      try bench.device("mac", schema, tables: tables, options: options),
      try bench.device("phone", schema, tables: tables)
    )
  }

  @Test(
    "A row that never matched is not sent, is not pending, and leaves nothing when it is deleted"
  )
  func neverMatched() throws {
    let (bench, mac, phone) = try Self.pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', '', 0), ('p', 'P', '', 1)", at: 1)
    try bench.sync(mac, phone)
    #expect(try bench.cloudNames() == ["a:notes"])
    #expect(try bench.unclean(mac) == ["'p:notes'|'local'|NULL"])
    #expect(mac.activity?.pendingRows == 0)
    #expect(mac.activity?.explanation == "Everything is synced.")
    #expect(try mac.engine.status(of: .string("p"), in: "notes") == .local)
    try mac.execute("UPDATE notes SET body = 'b' WHERE id = 'p'", at: 2)
    try bench.sync(mac, phone)
    #expect(try bench.cloudNames() == ["a:notes"])
    try mac.execute("DELETE FROM notes WHERE id = 'p'", at: 3)
    try mac.execute("INSERT INTO notes VALUES('q', 'Q', '', 1)", at: 4)
    try mac.execute("DELETE FROM notes WHERE id = 'q'", at: 5)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT record_name FROM cloudsync_pending") == [])
    #expect(try phone.lines("SELECT id FROM notes") == ["'a'"])
  }

  @Test(
    "A condition that is NULL does not match; a comment may end it, and names are as SQLite has them"
  )
  func nullCondition() throws {
    let (bench, mac, phone) = try Self.pair(Self.options("length(NOTES.Body) > 0 -- not empty"))
    try mac.execute("INSERT INTO notes VALUES('a', 'A', NULL, 0), ('b', 'B', 'text', 0)", at: 1)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM notes") == ["'b'"])
    try mac.execute("UPDATE notes SET body = 'now' WHERE id = 'a'", at: 2)
    try bench.sync(mac, phone)
    #expect(
      try phone.lines("SELECT id, body FROM notes ORDER BY id") == ["'a'|'now'", "'b'|'text'"]
    )
  }

  @Test(
    "A row that stops matching stays in the cloud as it is, and edits of both sides meet when it matches again"
  )
  func stopsMatching() throws {
    let (bench, mac, phone) = try Self.pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'x', 0)", at: 1)
    try bench.sync(mac, phone)
    let tags = try bench.cloudTags()
    try mac.execute("UPDATE notes SET private = 1, title = 'mine'", at: 2)
    try mac.execute("UPDATE notes SET title = 'still mine'", at: 3)
    try bench.sync(mac, phone)
    #expect(try bench.cloudTags() == tags)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'A'|'x'|0"])
    #expect(try bench.unclean(mac) == ["'a:notes'|'local'|NULL"])
    // What others edit comes, column by column; what was edited here later stays.
    try phone.execute("UPDATE notes SET body = 'theirs', title = 'older'", at: 2)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'still mine'|'theirs'|1"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'older'|'theirs'|0"])
    try mac.execute("UPDATE notes SET private = 0", at: 5)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'still mine'|'theirs'|0"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A row of the cloud's that does not match here is taken and kept up to date; only edits of it stay here"
  )
  func comesMismatching() throws {
    let (bench, mac, phone) = try Self.pair()
    try phone.execute("INSERT INTO notes VALUES('p', 'P', '', 1)", at: 1)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM notes") == ["'p'|'P'|''|1"])
    #expect(try bench.unclean(mac) == [])
    try phone.execute("UPDATE notes SET title = 'P2'", at: 2)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT title FROM notes") == ["'P2'"])
    try mac.execute("UPDATE notes SET body = 'here'", at: 3)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'p'|'P2'|''|1"])
    // The other device lets it match: then this one's edit goes along.
    try phone.execute("UPDATE notes SET private = 0", at: 4)
    try bench.sync(phone, mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'p'|'P2'|'here'|0"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A row of the same key in the cloud joins one that stays here, and is not changed by it")
  func sameKey() throws {
    let (bench, mac, phone) = try Self.pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'mine', 'b', 1)", at: 5)
    try bench.sync(mac)
    try phone.execute("INSERT INTO notes VALUES('a', 'theirs', 'c', 0)", at: 3)
    try bench.sync(phone, mac, phone)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'mine'|'b'|1"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'theirs'|'c'|0"])
    try phone.execute("UPDATE notes SET title = 'later'", at: 8)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'later'|'b'|1"])
    try mac.execute("UPDATE notes SET private = 0", at: 9)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'later'|'b'|0"])
  }

  @Test("Rows that were there before anybody synchronized are sent only if they match")
  func foundRows() async throws {
    let bench = SyncHarness()
    let filler = """
      ; INSERT INTO notes
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
        SELECT printf('n%04d', i), 't' || i, NULL, i % 3 = 0 FROM n
      """
    let mac = try bench.device(
      "mac",
      Self.schema + filler,
      tables: Self.tables,
      options: Self.options()
    )
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    let preview = try await mac.engine.dryRun()
    #expect(preview.sent.count == 600)
    #expect(preview.localRows == 300)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT count(*), sum(private) FROM notes") == ["600|0"])
    #expect(mac.activity?.pendingRows == 0)
    let counts = try #require(try SyncMetadata.read(from: mac.database)).counts
    #expect(counts.clean == 600)
    #expect(counts.local == 300)
    #expect(counts.dirty == 0)
    try mac.execute("UPDATE notes SET private = 0 WHERE id = 'n0003'", at: 5)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT count(*) FROM notes") == ["601"])
  }
}

extension SyncHarness.Device {
  /// What its engine is doing.
  var activity: SyncActivity? {
    let last = Locked<SyncActivity?>(nil)
    let subscription = engine.activity.sink { activity in last.withLock { $0 = activity } }
    defer { subscription.cancel() }
    return last.withLock { $0 }
  }
}
