import CloudSyncCore
import CloudSyncLocalCloud
@testable import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("Nothing is done again and again in vain")
struct VainWorkTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// Counts what is asked of a cloud.
  private final class CountingHandler: WorkHandler {
    let count = Locked(0)
    /// The names of the records that were sent.
    let sent = Locked<[String]>([])
    private let handler: any OperationHandler

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      count.withLock { $0 += 1 }
      if case .modify(let operation) = work {
        sent.withLock { $0 += operation.records.map(\.recordID.name) }
      }
      handler.perform(work, context: context, completion: completion)
    }
  }

  /// Gives a device an engine whose requests are counted.
  private func countRequests(
    of device: SyncHarness.Device,
    in bench: SyncHarness
  ) throws -> CountingHandler {
    let owner = AccountIdentity("owner")
    let handler = CountingHandler(
      bench.cloud.connect(device: device.name, account: owner, zoneID: bench.zoneID)
    )
    device.engine.stop()
    device.engine = try SyncEngine(
      database: device.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: bench.world.environment
    )
    device.listen()
    return handler
  }

  @Test("A row whose record in the cloud cannot be read is parked, and not sent without end")
  func unreadableRecord() throws {
    let bench = SyncHarness()
    let owner = AccountIdentity("owner")
    var record = Record(
      recordType: "notes",
      recordID: RecordID(name: "a:notes", zoneID: bench.zoneID)
    )
    record["title"] = .string("no engine has made this")
    let session = CloudSyncSession(
      operationHandler: bench.cloud.connect(device: "other", account: owner, zoneID: bench.zoneID),
      zoneID: bench.zoneID,
      environment: bench.world.environment
    )
    session.start()
    _ = try session.modify(ModifyOperation(records: [record]))
    bench.world.advance(by: .seconds(60))
    session.stop()

    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let handler = try countRequests(of: mac, in: bench)
    try mac.execute("INSERT INTO notes VALUES('a', 'mine'), ('b', 'other')")
    try bench.sync(mac)
    let before = handler.count.withLock { $0 }
    bench.world.advance(by: .seconds(600))

    #expect(handler.count.withLock { $0 } == before)
    #expect(before < 40)
    #expect(try bench.unclean(mac).contains { $0.hasPrefix("'a:notes'|'parked'") })
    #expect(try bench.cloudNames().contains("b:notes"))
  }

  @Test("The first edits after local data was deleted are sent")
  func editsAfterDeletion() throws {
    let schema = Self.schema + "; CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "lists"])
    try mac.execute("INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"])
    for number in 0..<5 { try mac.execute("UPDATE lists SET name = 'L\(number)'") }
    try bench.sync(mac)
    try mac.engine.deleteLocalData()
    try mac.execute("INSERT INTO notes VALUES('n', 'N')")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'n'"])

    // What was captured of the other table is there for its engine.
    try bench.restart(mac, ["notes", "lists"])
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT name FROM lists") == ["'L4'"])
  }

  @Test("A key's column that is renamed stops no engine")
  func renamedKey() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      try bench.restart(device, ["notes"], after: "ALTER TABLE notes RENAME COLUMN id TO uuid")
    }
    try mac.execute("UPDATE notes SET title = 'A2'; INSERT INTO notes VALUES('b', 'B')")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = try mac.lines("SELECT uuid, title FROM notes ORDER BY uuid")
    #expect(rows == ["'a'|'A2'", "'b'|'B'"])
    #expect(try phone.lines("SELECT uuid, title FROM notes ORDER BY uuid") == rows)
    #expect(mac.engine.isRunning && phone.engine.isRunning)
  }

  @Test("What the cloud has is not sent when everything is to be uploaded: it is fetched first")
  func uploadEverything() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C')")
    try bench.sync(mac, phone)
    let handler = try countRequests(of: mac, in: bench)
    bench.cloud.options.pageSize = 1
    try mac.engine.uploadEverything()
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    try bench.sync(mac, phone)

    #expect(handler.sent.withLock { $0 } == ["b:notes"])
    #expect(try phone.lines("SELECT title FROM notes ORDER BY id") == ["'A'", "'B2'", "'C'"])
  }

  @Test(
    "New rows are sent once, whether they were made before the first fetch or while it goes on",
    arguments: [0, 12]
  )
  func firstStart(others: Int) throws {
    let bench = SyncHarness()
    if others > 0 {
      let phone = try bench.device("phone", Self.schema, tables: ["notes"])
      for number in 0..<others { try phone.execute("INSERT INTO notes VALUES('p\(number)', 'P')") }
      try bench.sync(phone)
    }
    bench.cloud.options.pageSize = 2
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let handler = try countRequests(of: mac, in: bench)
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try mac.engine.start()
    for number in 0..<40 {
      try mac.execute("INSERT INTO notes VALUES('m\(number)', 'M')")
      mac.engine.sendChanges()
      bench.world.advance(by: .milliseconds(20))
    }
    bench.world.advance(by: .seconds(60))

    let names = (0..<40).map { "m\($0):notes" } + ["a:notes"]
    let sent = handler.sent.withLock { $0 }.filter { $0 != "cloudsync_zone" }
    #expect(sent.sorted() == names.sorted())
    #expect(try bench.unclean(mac) == [])
    #expect(try bench.cloudNames().count == others + 41)
  }

  @Test("A record that could not be read is read again by the next engine")
  func readableNow() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET title = 'A2'")
    try bench.sync(phone)
    // As a version of the app keeps it that cannot read it.
    let record = try #require(
      try bench.cloud.records(account: AccountIdentity("owner"), zone: bench.zoneID)
        .first { $0.recordID.name == "a:notes" }
    )
    mac.engine.stop()
    try mac.database.write { handle in
      try ForeignRecords(connection: SQLiteConnection(borrowing: handle))
        .keep(record, because: .invalid, error: "it is of a newer version")
    }
    try bench.restart(mac, ["notes"])
    try mac.engine.start()

    #expect(try mac.lines("SELECT title FROM notes") == ["'A2'"])
    #expect(try mac.lines("SELECT * FROM cloudsync_foreign_records") == [])
  }

  @Test(
    "A record of a long key that is gone from the cloud is gone here, also one that an earlier version has stored",
    arguments: [false, true]
  )
  func longKeys(areOfEarlierVersion: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute(
      "INSERT INTO notes VALUES(printf('%.400c', 'ä'), 'long'), (printf('%.300c', 'b'), 'B')"
    )
    try bench.sync(mac, phone)
    if areOfEarlierVersion {
      for device in [mac, phone] {
        #expect(try device.lines("SELECT count(*) FROM cloudsync_long_keys") == ["2"])
        try device.execute(
          "DELETE FROM cloudsync_long_keys; DELETE FROM cloudsync_facts WHERE key = 'indexed_keys'"
        )
      }
    }
    let names = try bench.cloudNames().filter { $0.hasPrefix("~h") }
    #expect(names.count == 2)
    let zone = bench.zoneID
    let session = CloudSyncSession(
      operationHandler: bench.cloud.connect(
        device: "console",
        account: AccountIdentity("owner"),
        zoneID: zone
      ),
      zoneID: zone,
      environment: bench.world.environment
    )
    session.start()
    _ = try session.modify(
      ModifyOperation(
        records: [],
        recordIDsToDelete: names.map { RecordID(name: $0, zoneID: zone) }
      )
    )
    bench.world.advance(by: .seconds(60))
    session.stop()
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT title FROM notes") == [])
    #expect(try phone.lines("SELECT title FROM notes") == [])
  }
}
