import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

/// `CLOUDSYNC_ENGINE_SCRIPTS=1000` has that many seeds tried, `CLOUDSYNC_ENGINE_SEED` one only.
@Suite("A process that dies between the commits of two files")
struct AttachedCrashTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER NOT NULL DEFAULT 0);
    """
  private static let notes = "SELECT * FROM notes ORDER BY id"

  @Test("No edit is lost, and no counter counts twice", arguments: 0..<2)
  func survives(part: Int) throws {
    let count = (TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? 6) / 2
    for number in 0..<count {
      let seed = 3_000_000 + part * 1_000_000 + number
      if let only = TestSettings.number("CLOUDSYNC_ENGINE_SEED"), only != seed { continue }
      if let text = try AttachedScript(seed: UInt64(seed), Self.schema).run() {
        Issue.record("seed \(seed): \(text)")
        return
      }
    }
  }
}

/// A fragile database and a sound one that edit the same rows.
private final class AttachedScript {
  private let bench = SyncHarness()
  private let folder: TestFolder
  private let database: FragileDatabase
  private let phone: SyncHarness.Device
  private let options: SyncEngineOptions
  private var random: SeededRandom
  private var engine: SyncEngine?
  private let errors = Locked<[String]>([])
  private var time: Int64 = 1_700_000_000_000
  /// How many stars each note was given, and the newest title.
  private var stars: [String: Int] = [:]
  private var titles: [String: String] = [:]
  private var deaths = 0

  init(seed: UInt64, _ schema: String) throws {
    random = SeededRandom(seed: seed)
    folder = try TestFolder("crash-\(seed)")
    database = try FragileDatabase(
      path: folder.file("data.sqlite"),
      metadataPath: folder.file("meta.sqlite"),
      schema: schema
    )
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["stars"] = .counter
    phone = try bench.device("phone", schema, tables: ["notes"], options: options)
    options.metadata = .attached(path: folder.file("meta.sqlite"))
    self.options = options
  }

  func run() throws -> String? {
    try database.execute("INSERT INTO notes(id) VALUES('a'), ('b'), ('c')")
    try start()
    bench.world.advance(by: .seconds(60))
    try bench.sync(phone)
    for _ in 0..<random.within(15...40) { try step() }
    database.die(after: nil)
    for _ in 0..<4 {
      try start()
      engine?.sendChanges()
      engine?.fetchChanges()
      bench.world.advance(by: .seconds(1_200))
      try bench.sync(phone)
    }
    return try verdict()
  }

  private func step() throws {
    switch random.below(8) {
    case 0, 1: try edit { [database] sql in try database.execute(sql) }
    case 2, 3: try edit { [phone] sql in try phone.execute(sql) }
    case 4: try bench.sync(phone)
    case 5:
      database.die(after: random.within(0...8))
      fallthrough
    default:
      try start()
      engine?.sendChanges()
      engine?.fetchChanges()
      bench.world.advance(by: .milliseconds(random.within(0...30_000)))
    }
  }

  /// Starts the engine, in a new process if the last one died.
  private func start() throws {
    do throws(SyncEngineError) {
      if let engine, engine.isRunning { return }
      database.close()
      let fresh = try SyncEngine(
        database: database,
        tables: ["notes"],
        zoneID: bench.zoneID,
        operationHandler: KillableHandler(
          bench.cloud.connect(
            device: "mac",
            account: AccountIdentity("owner"),
            zoneID: bench.zoneID
          ),
          database
        ),
        options: options,
        environment: bench.world.environment
      )
      engine = fresh
      try fresh.start()
    } catch {
      guard error.code == .cannotAccess else { throw error }
      // It died at its start.
      engine?.stop()
      engine = nil
      deaths += 1
      database.die(after: nil)
    }
  }

  private func edit(_ execute: (String) throws -> Void) throws {
    time += 1_000
    let id = random.pick(["a", "b", "c"])
    let clock = "UPDATE cloudsync_clock SET fixed = \(time << 16);"
    if random.chance(1, in: 2) {
      try execute(clock + "UPDATE notes SET stars = stars + 1 WHERE id = '\(id)'")
      stars[id, default: 0] += 1
    } else {
      try execute(clock + "UPDATE notes SET title = '\(time)' WHERE id = '\(id)'")
      titles[id] = "\(time)"
    }
  }

  private func verdict() throws -> String? {
    let mine = try database.lines("SELECT * FROM notes ORDER BY id")
    let theirs = try phone.lines("SELECT * FROM notes ORDER BY id")
    if mine != theirs { return "one has \(mine), the other \(theirs)" }
    let expected = ["a", "b", "c"]
      .map { id in
        "'\(id)'|\(titles[id].map { "'\($0)'" } ?? "NULL")|\(stars[id] ?? 0)"
      }
    if mine != expected { return "it has \(mine) and not \(expected), after \(deaths) deaths" }
    let unclean = try database.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'")
    if !unclean.isEmpty { return "not clean: \(unclean)" }
    let outbox = try database.lines("SELECT * FROM cloudsync_outbox")
    if !outbox.isEmpty { return "left in the outbox: \(outbox)" }
    return nil
  }
}
