import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Nothing is done again and again in vain")
struct VainWorkTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// Counts what is asked of a cloud.
  private final class CountingHandler: WorkHandler {
    let count = Locked(0)
    private let handler: any OperationHandler

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      count.withLock { $0 += 1 }
      handler.perform(work, context: context, completion: completion)
    }
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
    let handler = CountingHandler(
      bench.cloud.connect(device: "mac", account: owner, zoneID: bench.zoneID)
    )
    mac.engine = try SyncEngine(
      database: mac.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: bench.world.environment
    )
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
}
