import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Deletions and changed keys of rows that stay on a device")
struct RowFilterDeletionTests {
  private static let rows = "SELECT id FROM notes ORDER BY id"

  private func pair(
    deletes: DeletePolicy = .deleteWins
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try RowFilterTests.pair(RowFilterTests.options(deletes: deletes))
    try mac.execute("INSERT INTO notes VALUES('a', 'A', '', 0), ('b', 'B', '', 0)", at: 1)
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test(
    "A row that is deleted while it matches goes everywhere; one that does not stays with the others"
  )
  func deleted() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET private = 1 WHERE id = 'b'", at: 2)
    try bench.sync(mac)
    try mac.execute("DELETE FROM notes", at: 3)
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.rows) == [])
    #expect(try phone.lines(Self.rows) == ["'b'"])
    #expect(try bench.unclean(mac) == [])
    #expect(mac.activity?.pendingRows == 0)
    // Edits of others that came later than the deletion do not bring it back where deletions win.
    try phone.execute("UPDATE notes SET title = 'B2'", at: 5)
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.rows) == [])
    #expect(try phone.lines(Self.rows) == ["'b'"])
    // Somebody deletes it for all.
    try phone.execute("DELETE FROM notes", at: 6)
    try bench.sync(phone, mac, phone)
    #expect(try bench.cloudNames() == [])
  }

  @Test("It does not matter whether the engine has looked between the edit and the deletion")
  func unread() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET private = 1 WHERE id = 'b'; DELETE FROM notes", at: 2)
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'b'"])
    // The other way round.
    try phone.execute(
      "UPDATE notes SET private = 1; INSERT INTO notes VALUES('c', 'C', '', 1)",
      at: 3
    )
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.rows) == ["'c'"])
    try mac.execute("UPDATE notes SET private = 0; DELETE FROM notes", at: 4)
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'b'"])
  }

  @Test("A row that another device makes under the key has nothing to do with the deletion")
  func madeElsewhere() throws {
    let (bench, mac, phone) = try pair()
    let tablet = try bench.device(
      "tablet",
      RowFilterTests.schema,
      tables: RowFilterTests.tables
    )
    try bench.sync(tablet)
    try phone.execute("INSERT INTO notes VALUES('p', 'P', '', 1)", at: 2)
    try bench.sync(phone, mac)
    try mac.execute("DELETE FROM notes WHERE id = 'p'", at: 3)
    try bench.sync(mac)
    // It has not heard of the first one.
    try tablet.execute("INSERT INTO notes VALUES('p', 'T', '', 0)", at: 4)
    try bench.sync(tablet)
    try phone.execute("UPDATE notes SET title = 'newest' WHERE id = 'p'", at: 5)
    try bench.sync(mac, phone, tablet, mac)
    for device in [mac, phone, tablet] {
      #expect(try device.lines("SELECT title FROM notes WHERE id = 'p'") == ["'newest'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A row that came from the cloud and does not match here is deleted here alone")
  func deletedOfOthers() throws {
    let (bench, mac, phone) = try pair()
    try phone.execute("INSERT INTO notes VALUES('p', 'P', '', 1)", at: 2)
    try bench.sync(phone, mac)
    try mac.execute("DELETE FROM notes WHERE id = 'p'", at: 3)
    try bench.sync(mac, phone, mac)
    #expect(try mac.lines(Self.rows) == ["'a'", "'b'"])
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'", "'p'"])
    // Made again here it is a row as any other.
    try mac.execute("INSERT INTO notes VALUES('p', 'again', '', 0)", at: 4)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT title FROM notes WHERE id = 'p'") == ["'again'"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Many deletions at once are told from each other, also of children that follow")
  func manyDeletions() throws {
    let count = SuiteSize.count(100, long: 6_000)
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      INSERT INTO notes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        SELECT 'n' || i, NULL, NULL, 0 FROM n
      """,
      at: 2
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET private = 1 WHERE rowid % 2; DELETE FROM notes", at: 3)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT count(*) FROM notes") == ["0"])
    #expect(try phone.lines("SELECT count(*) FROM notes") == ["\(count / 2 + 1)"])
  }

  @Test("A row that another device deletes goes here too, unless edits win and it has one")
  func deletedElsewhere() throws {
    for policy in [DeletePolicy.deleteWins, .editWins] {
      let (bench, mac, phone) = try pair(deletes: policy)
      var options = SyncEngineOptions()
      options.defaultTable.merging.deletes = policy
      try bench.restart(phone, RowFilterTests.tables, options)
      try bench.sync(phone)
      try mac.execute("UPDATE notes SET private = 1, title = 'mine' WHERE id = 'a'", at: 5)
      try bench.sync(mac)
      try phone.execute("DELETE FROM notes", at: 4)
      try bench.sync(phone, mac, phone)
      #expect(try phone.lines(Self.rows) == [])
      let kept = policy == .editWins ? ["'a'|'mine'|1"] : []
      #expect(try mac.lines("SELECT id, title, private FROM notes") == kept)
      let open = try bench.unclean(mac)
      #expect(open.isEmpty == kept.isEmpty)
    }
  }

  @Test(
    "A key that is changed while the row does not match changes nothing in the cloud, until the row matches"
  )
  func changedKey() throws {
    let (bench, mac, phone) = try pair()
    let tags = try bench.cloudTags()
    try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
    try bench.sync(mac, phone)
    #expect(try bench.cloudTags() == tags)
    #expect(try mac.lines(Self.rows) == ["'a'", "'c'"])
    try phone.execute("UPDATE notes SET body = 'theirs' WHERE id = 'b'", at: 3)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT body FROM notes WHERE id = 'c'") == ["'theirs'"])
    try mac.execute("UPDATE notes SET private = 0 WHERE id = 'c'", at: 4)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes WHERE id > 'a'") == ["'c'|'B'|'theirs'|0"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A row that got another key and is deleted then, without matching, leaves the cloud's record alone"
  )
  func changedKeyAndDeleted() throws {
    for reads in [false, true] {
      let (bench, mac, phone) = try pair()
      try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
      if reads { try bench.sync(mac) }
      try mac.execute("DELETE FROM notes WHERE id = 'c'", at: 3)
      try bench.sync(mac, phone, mac)
      #expect(try mac.lines(Self.rows) == ["'a'"])
      #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
    }
  }

  @Test("A row that REPLACE removes by a unique key is told as it was")
  func replaced() throws {
    let schema =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, slug TEXT UNIQUE, private INTEGER)"
    var options = RowFilterTests.options()
    options.tables["notes"]?.uniqueKeys = .newest
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 's', 0), ('b', 't', 0)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET private = 1 WHERE id = 'b'", at: 2)
    try mac.execute("REPLACE INTO notes VALUES('c', 's', 0), ('d', 't', 1)", at: 3)
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.rows) == ["'c'", "'d'"])
    #expect(try phone.lines(Self.rows) == ["'b'", "'c'"])
  }

  @Test(
    "A deletion that nobody has captured stays here, since nobody knows whether the row matched"
  )
  func unseen() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.execute("DELETE FROM notes WHERE id = 'a'")
    }
    try bench.restart(mac, RowFilterTests.tables, RowFilterTests.options())
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.rows) == ["'b'"])
    #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
  }

  @Test(
    "A lost zone is uploaded again without what stays here, and whatever was deleted here stays deleted"
  )
  func lostZone() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET private = 1 WHERE id = 'b'", at: 2)
    try mac.execute("INSERT INTO notes VALUES('p', 'P', '', 1)", at: 3)
    try bench.sync(mac)
    try bench.deleteZone()
    try bench.sync(mac)
    #expect(try bench.cloudNames() == ["a:notes"])
    try bench.sync(phone, mac, phone)
    #expect(try bench.cloudNames() == ["a:notes", "b:notes"])
    #expect(
      try mac.lines("SELECT id, private FROM notes ORDER BY id") == ["'a'|0", "'b'|1", "'p'|1"]
    )
    #expect(try phone.lines("SELECT id, private FROM notes ORDER BY id") == ["'a'|0", "'b'|0"])
    try mac.engine.resync()
    try bench.sync(mac)
    #expect(try mac.lines(Self.rows) == ["'a'", "'b'", "'p'"])
  }
}
