import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

/// A zone has a record of the engine's that tells it from the zone after it.
///
/// Should the cloud refuse that record, nobody knows which zone the rows are of.
@Suite("A zone that nothing is told of")
struct UntoldZoneTests {
  @Test(
    "Rows of a zone that nobody told of are made again when another zone does not have them",
    arguments: [true, false]
  )
  func keepsRows(isToldLater: Bool) throws {
    let bench = SyncHarness()
    let refuses = Locked(true)
    let refusal = SyncError(.invalidArguments, "no such type")
    bench.handler = { RefusingHandler($0, refusal: refusal, refuses: refuses) }
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try bench.sync(mac)
    mac.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('p', 'P')")
    try bench.sync(phone)
    phone.engine.stop()
    try bench.deleteZone()
    refuses.withLock { $0 = !isToldLater }
    try bench.sync(mac)
    #expect(try bench.cloudNames() == ["m:notes"])
    try bench.sync(phone, mac)

    #expect(try bench.cloudNames() == ["m:notes", "p:notes"])
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
  }

  @Test("Rows of a zone that nobody told of are erased when another zone says that they were")
  func erasedRows() throws {
    let bench = SyncHarness()
    let refuses = Locked(true)
    let refusal = SyncError(.invalidArguments, "no such type")
    bench.handler = { RefusingHandler($0, refusal: refusal, refuses: refuses) }
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    var options = SyncEngineOptions()
    options.zoneLost = { $0 == .purged ? .deleteLocalData : .wait }
    let mac = try bench.device("mac", schema, tables: ["notes"], options: options)
    let phone = try bench.device("phone", schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('p', 'P')")
    let owner = AccountIdentity("owner")
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    refuses.withLock { $0 = false }
    try bench.sync(mac)
    try bench.sync(phone, mac)

    #expect(try bench.cloudNames() == ["p:notes"])
    #expect(try phone.lines("SELECT id FROM notes") == ["'p'"])
    #expect(try mac.lines("SELECT id FROM notes") == ["'p'"])
  }

  @Test("A response that tells of another zone says nothing of rows that were saved before it")
  func toldByAnswer() throws {
    let bench = SyncHarness()
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let refuses = Locked(true)
    let busy = SyncError(.requestRateLimited, retryAfter: .seconds(600))
    bench.handler = { RefusingHandler($0, refusal: busy, refuses: refuses) }
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try phone.execute("INSERT INTO notes VALUES('p', 'P')")
    try phone.engine.start()
    bench.world.advance(by: .seconds(60))
    #expect(try bench.cloudNames() == ["p:notes"])
    try bench.deleteZone()
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try bench.sync(mac)
    #expect(try bench.cloudNames() == ["m:notes"])
    // The record of the zone that is gone is saved in the other one.
    refuses.withLock { $0 = false }
    bench.world.advance(by: .seconds(700))
    try bench.sync(phone, mac)

    #expect(try bench.cloudNames() == ["m:notes", "p:notes"])
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
  }
}

/// Refuses the record that tells of the zone.
private final class RefusingHandler: WorkHandler {
  private let handler: any OperationHandler
  private let refusal: SyncError
  private let refuses: Locked<Bool>
  /// That record goes in a request of its own: rows are saved all the same.
  let limits = RequestLimits(items: 1)

  init(_ handler: any OperationHandler, refusal: SyncError, refuses: Locked<Bool>) {
    self.handler = handler
    self.refusal = refusal
    self.refuses = refuses
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .modify(let operation) = work, refuses.withLock({ $0 }),
      operation.records.contains(where: { $0.recordID.name == "cloudsync_zone" })
    {
      return completion(.failure(refusal))
    }
    handler.perform(work, context: context, completion: completion)
  }
}
