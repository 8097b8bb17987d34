import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Some databases that are edited at random while requests go wrong, and come to rest in the end.
final class EngineScript {
  /// A database, its engine, and what goes wrong on the way to the cloud.
  private final class Device {
    let name: String
    let database: DatabaseFile
    let handler: FaultyOperationHandler
    var engine: SyncEngine

    init(
      _ name: String,
      _ database: DatabaseFile,
      _ handler: FaultyOperationHandler,
      _ engine: SyncEngine
    ) {
      self.name = name
      self.database = database
      self.handler = handler
      self.engine = engine
    }
  }

  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, a INTEGER, b TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE,
      a INTEGER, b TEXT, c BLOB
    );
    CREATE TABLE tags(list TEXT NOT NULL, name TEXT NOT NULL, a INTEGER, PRIMARY KEY(list, name));
    CREATE TABLE folders(
      id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES folders ON DELETE CASCADE, a INTEGER
    );
    CREATE TABLE pieces(
      id TEXT PRIMARY KEY NOT NULL, list TEXT, name TEXT, a INTEGER,
      FOREIGN KEY(list, name) REFERENCES tags ON DELETE SET NULL
    );
    CREATE TABLE holds(id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES folders, a INTEGER);
    CREATE TABLE flags(
      id TEXT PRIMARY KEY NOT NULL, a INTEGER,
      list TEXT DEFAULT 'k3' REFERENCES lists(ID) ON DELETE SET DEFAULT
    );
    CREATE TABLE teams(
      id TEXT PRIMARY KEY NOT NULL, lead TEXT REFERENCES people(id) ON DELETE SET NULL, a INTEGER
    );
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL, team TEXT REFERENCES teams(id) ON DELETE CASCADE, a INTEGER,
      boss TEXT REFERENCES people(id) ON DELETE RESTRICT
    );
    """
  private static let tables = [
    "lists", "notes", "tags", "folders", "pieces", "holds", "flags", "teams", "people",
  ]
  /// The columns of the tables that refer to others, and whom they refer to.
  private static let references: [(table: String, columns: [String], parent: String)] = [
    ("notes", ["list"], "lists"), ("folders", ["up"], "folders"), ("holds", ["up"], "folders"),
    ("pieces", ["list", "name"], "tags"), ("flags", ["list"], "lists"),
    ("teams", ["lead"], "people"), ("people", ["team"], "teams"), ("people", ["boss"], "people"),
  ]
  let seed: UInt64
  private let world = SimulatedEnvironment()
  private let zoneID = ZoneID(name: "Data")
  private var random: SeededRandom
  private var devices: [Device] = []
  private let errors = Locked<[String]>([])
  /// Edits are a second apart.
  private var time: Int64 = 1_700_000_000_000
  private let hasDeletions: Bool
  /// What was done, for those who look for an error.
  private(set) var trace: [String] = []
  private let cloud: LocalCloud
  /// Whether zones are lost, and databases renewed, on the way.
  private let losesZones: Bool
  /// The newest edit of every column, if nothing is ever deleted.
  private var newest: [String: SQLiteValue] = [:]

  init(seed: UInt64, losesZones: Bool = false) throws {
    self.seed = seed
    self.losesZones = losesZones
    random = SeededRandom(seed: seed)
    hasDeletions = random.chance(2, in: 3)
    let world = world
    cloud = LocalCloud(now: { world.now })
    for number in 0..<random.within(2...3) {
      let database = try DatabaseFile(
        path: ":memory:",
        enforcesForeignKeys: random.chance(1, in: 2)
      )
      try database.execute(Self.schema)
      let connection = cloud.connect(
        device: "device-\(number)",
        account: AccountIdentity("owner"),
        zoneID: zoneID
      )
      let handler = FaultyOperationHandler(
        connection,
        in: world,
        seed: random.next(),
        plan: FaultPlan.ofRequests
      )
      let engine = try engine(database, handler, encrypts: true)
      trace.append("device-\(number): foreign_keys = \(try database.lines("PRAGMA foreign_keys"))")
      devices.append(Device("device-\(number)", database, handler, engine))
    }
  }

  /// Makes an engine; what the first one of a database has encrypted stays so.
  private func engine(
    _ database: DatabaseFile,
    _ handler: FaultyOperationHandler,
    encrypts: Bool = false
  ) throws -> SyncEngine {
    var options = SyncEngineOptions()
    if encrypts {
      options.tables["notes"] = SyncEngineOptions.Table()
      options.tables["notes"]?.encryptedColumns = ["b"]
    }
    options.captureClock = .fixed
    options.zoneLost = { _ in .uploadAgain }
    let engine = try SyncEngine(
      database: database,
      tables: Self.tables,
      zoneID: zoneID,
      operationHandler: handler,
      options: options,
      environment: world.environment
    )
    engine.errors.sink { [errors] error in errors.withLock { $0.append(error.description) } }
    return engine
  }

  /// Runs the script; returns what is wrong in the end.
  func run() throws -> String? {
    for device in devices where random.chance(2, in: 3) { try device.engine.start() }
    for _ in 0..<random.within(20...80) { try step() }
    for device in devices {
      device.handler.plan = .none
      try device.engine.start()
      device.engine.session?.retryNow()
    }
    for _ in 0..<8 {
      for device in devices {
        // A refusal that was on its way may have halted it.
        try device.engine.start()
        device.engine.sendChanges()
        device.engine.fetchChanges()
        world.advance(by: .seconds(1_200))
      }
    }
    return try verdict()
  }

  private func step() throws {
    let device = random.pick(devices)
    if losesZones, random.chance(1, in: 12) { return try lose(device) }
    let choice = random.below(12)
    if choice > 5 {
      trace.append(
        "\(device.name): \(["send", "fetch", "sync", "kill", "wait", "wait"][choice - 6])"
      )
    }
    switch choice {
    case 0..<6: try edit(device)
    case 6: device.engine.sendChanges()
    case 7: device.engine.fetchChanges()
    case 8:
      device.engine.sendChanges()
      device.engine.fetchChanges()
      world.advance(by: .seconds(30))
    case 9:
      // Killed, and started again later.
      device.engine.stop()
      device.engine = try engine(device.database, device.handler)
    default:
      if !device.engine.isRunning { try device.engine.start() }
      world.advance(by: .milliseconds(random.within(0...3_000)))
    }
  }

  private func lose(_ device: Device) throws {
    let owner = AccountIdentity("owner")
    switch random.below(6) {
    case 0...2:
      let reason: ZoneDeletionReason = random.pick([.deleted, .purged, .encryptedDataReset])
      try cloud.deleteZone(zoneID, account: owner, reason: reason)
    case 3: try cloud.expireTokens(zoneID, account: owner)
    case 4: try device.engine.rebuild()
    default: try device.engine.uploadEverything()
    }
  }

  private func edit(_ device: Device) throws {
    time += 1_000
    let key = random.pick(["k1", "k2", "k3", "ü"])
    let table = random.pick(Self.tables)
    let (columns, keys) =
      switch table {
      case "tags": ("list, name", "'\(key)', 'x,y'")
      // Its default may be no row's key.
      case "flags": ("id, list", "'\(key)', NULL")
      default: ("id", "'\(key)'")
      }
    let condition = table == "tags" ? "list = '\(key)'" : "id = '\(key)'"
    let isDeletion = hasDeletions && random.chance(1, in: 4)
    let editable = ["lists", "notes"].contains(table) ? ["a", "b"] : ["a"]
    let column = random.pick(editable)
    let value: SQLiteValue =
      random.chance(1, in: 6)
      ? .null : column == "a" ? .integer(time) : .text("\(time) é'\"")
    var sql = "UPDATE cloudsync_clock SET fixed = \(time);"
    if isDeletion {
      sql += "DELETE FROM \(table) WHERE \(condition)"
    } else {
      sql +=
        "INSERT OR IGNORE INTO \(table)(\(columns)) VALUES(\(keys));"
        + "UPDATE \(table) SET \(column) = \(value.literal) WHERE \(condition)"
      if hasDeletions, random.chance(1, in: 2) { sql += choosingParent(table, condition) }
      // Who inserts a row sets all of its columns.
      if try lines(device, "SELECT 1 FROM \(table) WHERE \(condition)").isEmpty {
        for other in ["a", "b"] { newest["\(table) \(key) \(other)"] = nil }
        for other in editable {
          newest["\(table) \(key) \(other)"] = .null
        }
      }
      // An update that changes nothing is no edit.
      let present = try lines(device, "SELECT \(column) FROM \(table) WHERE \(condition)")
      if present != [value.literal] { newest["\(table) \(key) \(column)"] = value }
    }
    trace.append("\(device.name): \(sql.split(separator: ";").dropFirst().joined(separator: ";"))")
    do throws(SyncEngineError) { try device.database.execute(sql) } catch {
      trace.append("\(device.name): refused")
      // What a foreign key forbids is no edit.
      guard error.reason.contains("FOREIGN KEY constraint failed") else { throw error }
    }
  }

  /// Has a row refer to another one that is there, or to none.
  private func choosingParent(_ table: String, _ condition: String) -> String {
    let references = Self.references.filter { $0.table == table }
    guard !references.isEmpty else { return "" }
    let (_, columns, parent) = random.pick(references)
    let key = random.pick(["k1", "k2", "k3"])
    let keys = parent == "tags" ? ["list", "name"] : ["id"]
    let sets = zip(columns, keys)
      .map { column, name in
        "\(column) = (SELECT \(name) FROM \(parent) WHERE \(keys[0]) = '\(key)')"
      }
    return ";UPDATE \(table) SET \(sets.joined(separator: ", ")) WHERE \(condition)"
  }

  // MARK: The end

  private func lines(_ device: Device, _ sql: String) throws -> [String] {
    try device.database.lines(sql)
  }

  private func verdict() throws -> String? {
    if let error = errors.withLock({ $0.first }) { return "an engine stopped: \(error)" }
    for device in devices {
      if let halt = device.engine.session?.state.haltReason {
        return "\(device.name) is halted: \(halt.error)"
      }
      let unclean = try lines(
        device,
        "SELECT record_name, status, error, waits_for FROM cloudsync_status WHERE status <> 'clean'"
      )
      if !unclean.isEmpty { return "\(device.name) is not clean: \(unclean)" }
      let dangling = try device.engine.danglingReferences()
      if !dangling.isEmpty { return "\(device.name) has \(dangling)" }
      for table in Self.tables {
        let sql = "SELECT * FROM \(table) ORDER BY 1, 2"
        let (mine, first) = (try lines(device, sql), try lines(devices[0], sql))
        if mine != first { return "\(device.name) has \(table) \(mine), the first one \(first)" }
      }
    }
    for record in try cloud.records(account: AccountIdentity("owner"), zone: zoneID) {
      let isSecret = record.recordType == "notes" && record["b"] != nil
      let secrets = isSecret ? ["b"] : []
      if record.encryptedKeys != secrets {
        return "\(record.recordID.name) encrypts \(record.encryptedKeys), not \(secrets)"
      }
    }
    return hasDeletions ? nil : try wrongColumn()
  }

  /// A column that does not have its newest edit.
  private func wrongColumn() throws -> String? {
    for (place, value) in newest.sorted(by: { $0.key < $1.key }) {
      let parts = place.split(separator: " ")
      let key = parts[0] == "tags" ? "list" : "id"
      let found = try lines(
        devices[0],
        "SELECT \(parts[2]) FROM \(parts[0]) WHERE \(key) = '\(parts[1])'"
      )
      if found != [value.literal] {
        return "\(place) is \(found), its newest edit \(value.literal)"
      }
    }
    return nil
  }
}
