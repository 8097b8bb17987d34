import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Testing

@Suite("Databases that lose responses")
struct LostResponsesTests {
  // SAMPLE: CloudSyncSimulator/TestingYourSync.md
  @Test("Two databases agree although every second response is lost", arguments: UInt64(1)...3)
  func agrees(seed: UInt64) throws {
    let world = SimulatedEnvironment()
    let zone = ZoneID(name: "Notes")
    let cloud = LocalCloud(now: { world.now })
    var plan = FaultPlan.none
    plan[.responseLost] = .init(1, in: 2)

    let databases = [try DatabaseFile(path: ":memory:"), try DatabaseFile(path: ":memory:")]
    var engines: [SyncEngine] = []
    for (index, database) in databases.enumerated() {
      try database.execute("CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, text TEXT)")
      let connection = cloud.connect(
        device: "device \(index)",
        account: AccountIdentity("owner"),
        zoneID: zone
      )
      let engine = try SyncEngine(
        database: database,
        tables: ["notes"],
        zoneID: zone,
        operationHandler: FaultyOperationHandler(
          connection,
          in: world,
          seed: seed + UInt64(index),
          plan: plan
        ),
        environment: world.environment
      )
      try engine.start()
      engines.append(engine)
    }

    try databases[0].execute("INSERT INTO notes VALUES('a', 'Buy milk')")
    try databases[1].execute("INSERT INTO notes VALUES('b', 'Call Ada')")
    for engine in engines + engines {
      engine.sendChanges()
      world.advance(by: .seconds(3_600))
      engine.fetchChanges()
      world.advance(by: .seconds(3_600))
    }

    for database in databases {
      let rows = try database.query("SELECT text FROM notes ORDER BY id")
      #expect(rows.map { $0["text"] } == ["Buy milk", "Call Ada"])
    }
  }
  // SAMPLE: end
}
