import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Some databases that count up the same rows while requests go wrong and are split.
private final class CounterScript {
  private let world = SimulatedEnvironment()
  private let cloud: LocalCloud
  private var random: SeededRandom
  private var devices:
    [(database: DatabaseFile, handler: FaultyOperationHandler, engine: SyncEngine)] = []
  /// Edits are so close that devices have some at the same time.
  private var time: Int64 = 1_700_000_000_000
  private var sums: [String: Int64] = [:]

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    let world = world
    cloud = LocalCloud(now: { world.now })
    var options = SyncEngineOptions()
    options.captureClock = .fixed
    options.defaultTable.merging = TableMergePolicy(columns: ["count": .counter])
    for number in 0..<random.within(2...3) {
      let database = try DatabaseFile(path: ":memory:")
      try database.execute("CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, count INTEGER)")
      let connection = cloud.connect(
        device: "device-\(number)",
        account: AccountIdentity("owner"),
        zoneID: ZoneID(name: "Data")
      )
      let seed = random.next()
      let handler = FaultyOperationHandler(connection, in: world, seed: seed, plan: .ofRequests)
      let engine = try SyncEngine(
        database: database,
        tables: ["notes"],
        zoneID: ZoneID(name: "Data"),
        operationHandler: handler,
        options: options,
        environment: world.environment
      )
      devices.append((database, handler, engine))
    }
  }

  /// Runs the script; returns what is wrong in the end.
  func run() throws -> String? {
    let keys = ["a", "b", "c", "d"]
    for key in keys { try devices[0].database.execute("INSERT INTO notes VALUES('\(key)', 0)") }
    for device in devices { try device.engine.start() }
    try settle()
    // Less than the devices believe: what they send is split.
    cloud.options.itemLimit = random.within(1...3)
    for _ in 0..<random.within(10...60) {
      let device = random.pick(devices)
      switch random.below(4) {
      case 0, 1:
        let (key, step) = (random.pick(keys), Int64(random.within(1...9)))
        // Who has not got the row yet cannot count it.
        let isThere = try device.database.lines("SELECT 1 FROM notes WHERE id = '\(key)'")
        if isThere.isEmpty { continue }
        sums[key, default: 0] += step
        time += Int64(random.within(0...2))
        try device.database.execute("UPDATE cloudsync_clock SET fixed = \(time)")
        try device.database.execute("UPDATE notes SET count = count + \(step) WHERE id = '\(key)'")
      case 2:
        device.engine.sendChanges()
        device.engine.fetchChanges()
      default: world.advance(by: .milliseconds(random.within(0...2_000)))
      }
    }
    for device in devices { device.handler.plan = .none }
    try settle()
    let expected = keys.map { "'\($0)'|\(sums[$0] ?? 0)" }
    for device in devices {
      let found = try device.database.lines("SELECT * FROM notes ORDER BY id")
      let unclean = try device.database.lines(
        "SELECT record_name, status, error FROM cloudsync_status WHERE status <> 'clean'"
      )
      if found != expected || !unclean.isEmpty {
        let halt = device.engine.session?.state.haltReason
        return "\(found) instead of \(expected); \(unclean), \(halt.map { "\($0.error)" } ?? "")"
      }
    }
    return nil
  }

  private func settle() throws {
    for _ in 0..<6 {
      for device in devices {
        try device.engine.start()  // goes on where it has halted over an error
        device.engine.session?.retryNow()
        device.engine.sendChanges()
        device.engine.fetchChanges()
        world.advance(by: .seconds(1_200))
      }
    }
  }
}

@Suite("Counters of several databases")
struct CounterScriptTests {
  @Test("Whatever goes wrong, and however requests are split, every step counts once")
  func sums() throws {
    for seed
      in 0..<UInt64(
        TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? SuiteSize.count(2, long: 160)
      )
    {
      if let text = try CounterScript(seed: seed).run() {
        Issue.record("seed \(seed): \(text)")
        return
      }
    }
  }
}
