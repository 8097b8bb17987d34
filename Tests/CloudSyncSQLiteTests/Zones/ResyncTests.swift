import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("Everything from the cloud again")
struct ResyncTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT
    );
    """
  private static let tables = ["lists", "notes"]
  private static let notes = "SELECT id, title FROM notes ORDER BY id"

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L');
      INSERT INTO notes VALUES('a', 'l', 'A'), ('b', 'l', 'B'), ('c', 'l', 'C'), ('d', 'l', 'D');
      """
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  /// Writes as somebody does who has switched the triggers off.
  private func sneak(_ sql: String, into device: SyncHarness.Device) throws {
    try device.execute(
      """
      CREATE TEMP TABLE before AS SELECT * FROM cloudsync_outbox;
      \(sql);
      DELETE FROM cloudsync_outbox WHERE id NOT IN (SELECT id FROM before);
      DROP TABLE before;
      """
    )
  }

  @Test("Missing rows come back; edits and what was changed unseen stay, and are sent")
  func restores() throws {
    let (bench, mac, phone) = try pair()
    try phone.execute("UPDATE notes SET title = 'D2' WHERE id = 'd'")
    try bench.sync(phone)
    mac.engine.stop()
    try sneak("DELETE FROM notes WHERE id = 'a'; DELETE FROM notes WHERE id = 'd'", into: mac)
    try sneak("UPDATE notes SET title = 'changed unseen' WHERE id = 'b'", into: mac)
    try mac.execute("UPDATE notes SET title = 'C2' WHERE id = 'c'")
    try mac.execute("INSERT INTO notes VALUES('e', 'l', 'E')")
    try mac.engine.resync()
    try bench.sync(mac, phone)

    let expected = ["'a'|'A'", "'b'|'changed unseen'", "'c'|'C2'", "'d'|'D2'", "'e'|'E'"]
    #expect(try mac.lines(Self.notes) == expected)
    #expect(try phone.lines(Self.notes) == expected)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("What was deleted stays deleted, here and elsewhere")
  func keepsDeletions() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try phone.execute("DELETE FROM notes WHERE id = 'a'")
    try bench.sync(phone)
    try mac.execute("DELETE FROM notes WHERE id = 'b'")
    try mac.engine.resync()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'c'|'C'", "'d'|'D'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
  }

  @Test("A row that the cloud has lost is saved there again, where a rebuild would delete it")
  func lostRecord() throws {
    for rebuilds in [false, true] {
      let bench = SyncHarness()
      bench.handler = { ForgetfulHandler(handler: $0) }
      let mac = try bench.device("mac", Self.schema, tables: Self.tables)
      try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
      try bench.sync(mac)
      try deleteRecord("a:notes", of: bench)
      if rebuilds { try mac.engine.rebuild() } else { try mac.engine.resync() }
      try bench.sync(mac)
      #expect(try bench.cloudNames().contains("a:notes") == !rebuilds)
      #expect(try mac.lines(Self.notes).contains("'a'|'A'") == !rebuilds)
      #expect(try bench.unclean(mac) == [])
    }
  }

  @Test("It brings rows back, also where somebody asks for a fetch of everything meanwhile")
  func askedAgain() throws {
    let bench = SyncHarness()
    bench.handler = { ForgetfulHandler(handler: $0) }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac)
    try deleteRecord("a:notes", of: bench)
    // It has begun, the app has ended, and a migration asks too.
    mac.engine.stop()
    try mac.execute("INSERT INTO cloudsync_facts VALUES('full_fetch', 7), ('fetch_all', 1)")
    try bench.sync(mac)
    #expect(try bench.cloudNames().contains("a:notes"))
    #expect(try mac.lines(Self.notes).contains("'a'|'A'"))
    #expect(try bench.unclean(mac) == [])
  }

  /// Deletes a record as no engine does.
  private func deleteRecord(_ name: String, of bench: SyncHarness) throws {
    let session = CloudSyncSession(
      operationHandler: bench.cloud.connect(
        device: "other",
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      ),
      zoneID: bench.zoneID,
      environment: bench.world.environment
    )
    session.start()
    let recordID = RecordID(name: name, zoneID: bench.zoneID)
    try session.modify(ModifyOperation(records: [], recordIDsToDelete: [recordID]))
    bench.world.advance(by: .seconds(30))
    #expect(try bench.cloudNames().contains(name) == false)
  }

  @Test("Where all is well nothing is sent, and nothing changes")
  func quiet() throws {
    let (bench, mac, phone) = try pair()
    let tags = try bench.cloudTags()
    try mac.engine.resync()
    try bench.sync(mac, phone)
    #expect(try bench.cloudTags() == tags)
    #expect(try mac.lines(Self.notes).count == 4)
  }

  @Test("One that is cut short is taken up again by the next start")
  func isCutShort() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try sneak("DELETE FROM notes WHERE id = 'a'", into: mac)
    bench.cloud.options.pageSize = 1
    try mac.engine.resync()
    try mac.engine.start()
    bench.world.advance(by: .milliseconds(100))
    mac.engine.stop()
    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes).count == 4 && phone.lines(Self.notes).count == 4)
    #expect(
      try mac.lines("SELECT 1 FROM cloudsync_facts WHERE key IN ('full_fetch', 'fetch_all')") == []
    )
  }

  @Test("A table that is new or was rebuilt meanwhile does not make another fetch of it")
  func withRebuiltTable() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.engine.resync()
    try bench.restart(
      mac,
      Self.tables,
      after: """
        PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;
        CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT);
        INSERT INTO other SELECT * FROM notes WHERE id <> 'a';
        DROP TABLE notes; ALTER TABLE other RENAME TO notes; PRAGMA foreign_keys = ON;
        """
    )
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.notes).count == 4 && phone.lines(Self.notes).count == 4)
  }
}

/// A cloud whose feed does not tell which records were deleted.
private struct ForgetfulHandler: WorkHandler {
  let handler: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    handler.perform(work, context: context) { result in
      guard case .success(.fetch(var response)) = result else { return completion(result) }
      response.deletedRecords = []
      completion(.success(.fetch(response)))
    }
  }
}
