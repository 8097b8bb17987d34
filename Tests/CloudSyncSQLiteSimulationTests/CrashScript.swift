import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSimulation
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// A short life of two databases, one of which breaks off at a statement and begins again.
///
/// All edits have times of their own, and none depends on which of two devices was first: so whatever
/// happens on the way, the end is the same.
final class CrashScript {
  /// A database with the app that runs on it.
  final class Device {
    let name: String
    let file: DatabaseFile
    var process: SimulatedProcess
    var database: FaultyDatabase
    var engine: SyncEngine?

    init(
      _ name: String,
      _ file: DatabaseFile,
      _ process: SimulatedProcess,
      _ database: FaultyDatabase
    ) {
      self.name = name
      self.file = file
      self.process = process
      self.database = database
    }
  }

  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), a INTEGER, b TEXT
    );
    CREATE TABLE tags(list TEXT NOT NULL, name TEXT NOT NULL, a INTEGER, PRIMARY KEY(list, name));
    """
  static let tables = ["lists", "notes", "tags"]

  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  private let zoneID = ZoneID(name: "Data")
  private var devices: [Device] = []
  private let failures = Locked<[String]>([])

  init() throws {
    let world = world
    cloud = LocalCloud(now: { world.now })
    for name in ["one", "two"] {
      let file = try DatabaseFile(path: ":memory:")
      try file.execute(Self.schema)
      let process = SimulatedProcess(in: world)
      devices.append(Device(name, file, process, database(file, process)))
    }
  }

  // MARK: The script

  /// Runs it; returns the rows of each device in the end, and whether the statement was reached.
  func run(
    _ fault: FaultyDatabase.Fault?,
    at statement: Int
  ) throws -> (rows: [[String]], wasReached: Bool, failures: [String]) {
    let (one, two) = (devices[0], devices[1])
    if let fault { one.database.arm(fault: fault, at: statement) }
    let first = one.database
    launch(one)
    launch(two)
    pass()
    try edit(
      one,
      "INSERT INTO lists VALUES('k', 'List'); INSERT INTO notes VALUES('a', 'k', 1, 'x')",
      "INSERT INTO notes VALUES('b', NULL, 2, 'y'); INSERT INTO tags VALUES('k', 'x,y', 1)"
    )
    pass()
    sync(two)
    try edit(two, "UPDATE notes SET b = 'two' WHERE id = 'a'; DELETE FROM tags")
    try edit(one, "UPDATE notes SET a = 10 WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'")
    pass()
    try edit(one, "UPDATE notes SET b = 'one', a = NULL WHERE id = 'a'")
    try edit(two, "INSERT INTO notes VALUES('c', 'k', 3, 'z'); INSERT INTO lists(id) VALUES('l')")
    pass()
    sync(one)
    sync(two)
    // Each deletes what it has made itself, which is there whatever has become of the other's edits.
    try edit(one, "INSERT INTO notes VALUES('b', 'k', 20, 'again')")
    try edit(two, "DELETE FROM notes WHERE id = 'c'")
    pass()
    first.disarm()
    for _ in 0..<6 {
      sync(one)
      sync(two)
      pass()
    }
    let rows = try devices.map { device in
      try Self.tables.flatMap {
        try device.file.lines(sql: "SELECT '\($0)', * FROM \($0) ORDER BY 2, 3")
      }
        + device.file.lines(sql: "SELECT record_name, status FROM cloudsync_status ORDER BY 1")
    }
    return (rows, first.strikes > 0, failures.withLock { $0 })
  }

  /// Lets time pass, and starts again what has ended or stopped.
  private func pass() {
    world.advance(by: .seconds(40))
    for device in devices where device.database.hasEnded || device.engine?.isRunning != true {
      launch(device)
    }
    world.advance(by: .seconds(20))
  }

  private func sync(_ device: Device) {
    device.engine?.sendChanges()
    device.engine?.fetchChanges()
    world.advance(by: .seconds(40))
  }

  /// Edits with a connection that nothing happens to, each statement at another time.
  private func edit(_ device: Device, _ statements: String...) throws {
    for sql in statements {
      world.advance(by: .seconds(1))
      try device.file.write { [world] handle in
        let connection = SQLiteConnection(borrowing: handle)
        try Self.setClock(connection, world)
        try connection.execute("BEGIN; \(sql); COMMIT")
      }
    }
    device.engine?.sendChanges()
  }

  // MARK: Processes

  private func launch(_ device: Device) {
    do {
      if device.engine == nil || device.database.hasEnded {
        device.engine = nil
        device.engine = try makeEngine(device)
      }
      try device.engine?.start()
    } catch {
      Self.note(error, of: device.database, in: failures)
    }
  }

  private func makeEngine(_ device: Device) throws -> SyncEngine {
    if device.database.hasEnded {
      device.process = SimulatedProcess(in: world)
      device.database = database(device.file, device.process)
    }
    let engine = try SyncEngine(
      database: device.database,
      tables: Self.tables,
      zoneID: zoneID,
      operationHandler: cloud.connect(
        device: device.name,
        account: AccountIdentity("owner"),
        zoneID: zoneID
      ),
      environment: device.process.environment
    )
    engine.errors.sink { [failures, database = device.database] error in
      Self.note(error, of: database, in: failures)
    }
    return engine
  }

  private func database(_ file: DatabaseFile, _ process: SimulatedProcess) -> FaultyDatabase {
    FaultyDatabase(
      file,
      willWrite: { [world] _, connection in try Self.setClock(connection, world) },
      didStrike: { fault in if fault == .ends { process.end() } }
    )
  }

  private static func setClock(
    _ connection: SQLiteConnection,
    _ world: SimulatedEnvironment
  ) throws {
    let clocks = "SELECT count(*) FROM sqlite_schema WHERE name = 'cloudsync_clock'"
    // Before the engine has made its tables there is no clock.
    guard try connection.integer(clocks) == 1 else { return }
    let milliseconds = world.now.nanoseconds / 1_000_000
    try connection.execute("UPDATE cloudsync_clock SET fixed = \(milliseconds)")
  }

  /// Notes an error of the engine's, unless it is that of the fault.
  private static func note(
    _ error: any Error,
    of database: FaultyDatabase,
    in failures: Locked<[String]>
  ) {
    if database.hasEnded || database.takeStrike() { return }
    failures.withLock { $0.append("\(error)") }
  }
}
