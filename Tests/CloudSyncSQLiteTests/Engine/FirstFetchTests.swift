import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("The first fetch of a run")
struct FirstFetchTests {
  @Test("It comes first however fast the cloud is, and what was sent is not sent again")
  func comesFirst() throws {
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)",
      tables: ["notes"]
    )
    let handler = RecordingOperationHandler(
      bench.cloud.connect(
        device: "mac",
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      )
    )
    // Everything is done before a call returns: the zone is ready while the engine is still being started.
    var environment = bench.world.environment
    environment.makeExecutor = { .immediate }
    mac.engine = try SyncEngine(
      database: mac.database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: environment
    )
    let activity = Locked(SyncActivity())
    mac.engine.activity.sink { new in activity.withLock { $0 = new } }
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try mac.engine.start()
    bench.world.advance(by: .seconds(30))

    let fetches = handler.exchanges.compactMap { exchange in
      if case .fetch(let operation) = exchange.work { operation } else { nil }
    }
    #expect(fetches.filter { $0.changeToken == nil }.count == 1)
    #expect(activity.withLock { $0.counts.sent } == 1)
    #expect(activity.withLock { $0.counts.merged } == 0)
    #expect(try bench.unclean(mac) == [])
  }
}
