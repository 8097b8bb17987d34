import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Tombstones that go")
struct TombstoneTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let notes = "SELECT id, title FROM notes ORDER BY id"
  private static let owner = AccountIdentity("owner")

  /// A cloud whose storage may be full, so that it takes deletions and nothing else, or that never answers these.
  private final class FullHandler: WorkHandler {
    let isFull = Locked(false)
    let lost = Locked(false)
    private let handler: any OperationHandler

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      if case .modify(let operation) = work, !operation.recordIDsToDelete.isEmpty,
        lost.withLock({ $0 })
      {
        return
      }
      guard isFull.withLock({ $0 }), case .modify(let operation) = work,
        !operation.records.isEmpty
      else { return handler.perform(work, context: context, completion: completion) }
      let error = SyncError(.quotaExceeded, "the storage is full")
      var response = ModifyOperation.Response()
      response.failures = operation.records.map { ItemFailure($0.recordID, error) }
      completion(.success(.modify(response)))
    }
  }

  private func pair(
    _ policy: TombstonePolicy,
    _ deletes: DeletePolicy = .deleteWins
  ) throws -> (SyncHarness, SyncHarness.Device, SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.tombstones = policy
    options.defaultTable.merging.deletes = deletes
    return try SyncHarness.pair(Self.schema, tables: ["notes"], options: options)
  }

  /// How many records of rows the cloud has, tombstones included.
  private func recordCount(_ bench: SyncHarness) throws -> Int {
    try bench.cloud.records(account: Self.owner, zone: bench.zoneID)
      .filter { $0.recordID.name != "cloudsync_zone" }.count
  }

  /// Gives a device an engine that purges after a day.
  private func remake(
    _ device: SyncHarness.Device,
    handler: any OperationHandler,
    environment: SyncEnvironment,
    in bench: SyncHarness
  ) throws {
    var options = SyncEngineOptions()
    options.tombstones = .purge(after: .seconds(86_400))
    device.engine = try SyncEngine(
      database: device.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      options: options,
      environment: environment
    )
    device.listen()
  }

  @Test(
    "They are deleted from the cloud when they are old enough, and known nowhere any more",
    arguments: [DeletePolicy.deleteWins, .editWins]
  )
  func purging(_ deletes: DeletePolicy) throws {
    let (bench, mac, phone) = try pair(.purge(after: .seconds(90 * 86_400)), deletes)
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C')")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM notes WHERE id IN ('a', 'b')")
    try bench.sync(mac, phone)
    bench.world.advance(by: .seconds(80 * 86_400))
    try phone.execute("UPDATE notes SET title = 'C2'")
    try bench.sync(phone, mac)
    #expect(try recordCount(bench) == 3)

    bench.world.advance(by: .seconds(11 * 86_400))
    try phone.execute("UPDATE notes SET title = 'C3'")
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    #expect(try recordCount(bench) == 1)
    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'c'|'C3'"])
      #expect(try device.lines("SELECT key FROM cloudsync_pending") == [])
      #expect(try bench.unclean(device) == [])
    }
    // The key is free again.
    try phone.execute("INSERT INTO notes VALUES('a', 'A2')")
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.notes) == ["'a'|'A2'", "'c'|'C3'"])
  }

  @Test("A device that was away meanwhile deletes its rows, and keeps what it has made anew")
  func away() throws {
    let (bench, mac, phone) = try pair(.purge(after: .seconds(86_400)))
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute(
      "DELETE FROM notes WHERE id = 'b'; UPDATE notes SET title = 'P' WHERE id = 'a'"
    )
    try mac.execute("DELETE FROM notes WHERE id IN ('a', 'b')")
    try bench.sync(mac)
    bench.world.advance(by: .seconds(2 * 86_400))
    try phone.execute("INSERT INTO notes VALUES('b', 'B2')")
    try mac.execute("UPDATE notes SET title = 'C2' WHERE id = 'c'")
    try bench.sync(mac)
    #expect(try recordCount(bench) == 1)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'b'|'B2'", "'c'|'C2'"], "\(device.name)")
    }
  }

  @Test("A row that is made anew while its tombstone is marked comes when the mark is old")
  func madeAnew() throws {
    let (bench, mac, phone) = try pair(.purge(after: .seconds(86_400)))
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('c', 'C')")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM notes WHERE id = 'a'")
    try bench.sync(mac, phone)
    bench.world.advance(by: .seconds(2 * 86_400))
    // The mark is in the cloud, and whoever has set it is gone.
    mac.engine.stop()
    let handler = FullHandler(
      bench.cloud.connect(device: "mac", account: Self.owner, zoneID: bench.zoneID)
    )
    handler.lost.withLock { $0 = true }
    try remake(mac, handler: handler, environment: bench.world.environment, in: bench)
    try mac.execute("UPDATE notes SET title = 'C2'")
    try mac.engine.start()
    bench.world.advance(by: .seconds(30))
    let waiting = "SELECT key FROM cloudsync_pending WHERE awaits_fetch IS NOT NULL"
    #expect(try mac.lines(waiting) == ["'a'"])
    mac.engine.stop()
    handler.lost.withLock { $0 = false }
    try bench.sync(phone)
    try phone.execute("INSERT INTO notes VALUES('a', 'A2')")
    try bench.sync(phone)
    bench.world.advance(by: .seconds(2 * 86_400))
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'a'|'A2'", "'c'|'C2'"], "\(device.name)")
    }
  }

  @Test(
    "A device whose clock is years wrong marks a tombstone once and deletes it, and others wait for a day at most",
    arguments: [-94_608_000, 94_608_000]
  )
  func wrongClock(seconds: Int64) throws {
    let (bench, mac, phone) = try pair(.purge(after: .seconds(86_400)))
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('c', 'C')")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM notes WHERE id = 'a'")
    try bench.sync(mac, phone)
    bench.world.advance(by: .seconds(2 * 86_400))
    mac.engine.stop()
    let clock = SimulatedClock(in: bench.world, skew: .seconds(seconds))
    var environment = bench.world.environment
    environment.now = { clock.now }
    let handler = bench.cloud.connect(device: "mac", account: Self.owner, zoneID: bench.zoneID)
    try remake(mac, handler: handler, environment: environment, in: bench)
    try mac.execute("UPDATE notes SET title = 'C2' WHERE id = 'c'")
    try bench.sync(mac)
    #expect(try recordCount(bench) == 1)
    try phone.execute("INSERT INTO notes VALUES('a', 'A2')")
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'a'|'A2'", "'c'|'C2'"], "\(device.name)")
    }
  }

  /// Two devices whose first one's cloud can be full.
  private func fillablePair() throws -> (
    SyncHarness, SyncHarness.Device, SyncHarness.Device, FullHandler
  ) {
    let (bench, mac, phone) = try pair(.keep)
    let handler = FullHandler(
      bench.cloud.connect(device: "mac", account: Self.owner, zoneID: bench.zoneID)
    )
    mac.engine = try SyncEngine(
      database: mac.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: bench.world.environment
    )
    mac.listen()
    return (bench, mac, phone, handler)
  }

  @Test("A full storage can be emptied: a tombstone that it refuses goes as a deletion")
  func fullStorage() throws {
    let (bench, mac, phone, handler) = try fillablePair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    handler.isFull.withLock { $0 = true }
    try mac.execute("DELETE FROM notes WHERE id = 'a'; UPDATE notes SET title = 'B2'")
    try bench.sync(mac)
    #expect(try recordCount(bench) == 1)
    // Its tombstone follows, for those who have not heard of that.
    #expect(try mac.lines("SELECT key FROM cloudsync_pending ORDER BY key") == ["'a'", "'b'"])
    handler.isFull.withLock { $0 = false }
    bench.world.advance(by: .seconds(7_200))
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'b'|'B2'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("The tombstone of a row whose key was changed waits for storage: edits follow the row")
  func fullStorageOfMoved() throws {
    let (bench, mac, phone, handler) = try fillablePair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac, phone)
    handler.isFull.withLock { $0 = true }
    try mac.execute("UPDATE notes SET id = 'b' WHERE id = 'a'")
    try bench.sync(mac)
    try phone.execute("UPDATE notes SET title = 'A2'")
    handler.isFull.withLock { $0 = false }
    bench.world.advance(by: .seconds(7_200))
    try bench.sync(mac, phone)
    try bench.sync(mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'b'|'A2'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}
