import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator

/// A device of the demonstration: notes in a SQLite database, and an engine under them.
final class DemoDevice: Sendable {
  let name: String
  let database: DatabaseFile
  let engine: SyncEngine
  let network: DemoNetwork
  private let world: SimulatedEnvironment
  private let faults: FaultyOperationHandler
  let listener: DemoListener

  /// Makes a device.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - cloud: The cloud that it shares with the other.
  ///   - world: Where it runs.
  ///   - faults: What goes wrong besides the story.
  ///   - folder: Where its files go.
  ///   - tell: Takes what happens, in words.
  /// - Throws: That the database cannot be made.
  init(
    _ name: String,
    cloud: LocalCloud,
    in world: SimulatedEnvironment,
    faults: (seed: UInt64, plan: FaultPlan),
    folder: DemoFolder,
    tell: @escaping @Sendable (DemoWords) -> Void
  ) throws {
    self.name = name
    self.world = world
    let connection = cloud.connect(
      device: name,
      account: AccountIdentity("somebody"),
      zoneID: DemoRows.zoneID,
      executor: world.executor
    )
    self.faults = FaultyOperationHandler(
      connection,
      in: world,
      seed: faults.seed,
      plan: faults.plan
    )
    network = DemoNetwork(self.faults)
    listener = DemoListener(name, folder, accountStatus: connection.accountStatus, tell: tell)
    database = try DatabaseFile(path: folder.file(named: "\(name).sqlite"), createsFile: true)
    try database.execute(DemoRows.schema)
    var options = SyncEngineOptions()
    options.configuration.timeout = .seconds(10)
    options.captureClock = .fixed
    options.sessionWillStart = { [listener] in listener.attach(to: $0) }
    engine = try SyncEngine(
      database: database,
      tables: DemoRows.tables,
      zoneID: DemoRows.zoneID,
      operationHandler: network,
      options: options,
      environment: world.environment
    )
    engine.errors.sink { [listener] error in listener.fail(because: "\(error)") }
    connection.onPush { [weak engine] _ in engine?.fetchChanges() }
  }

  /// What could not be done, if anything.
  var problem: String? { listener.problem }

  func rows() throws -> DemoRows { try DemoRows(database) }

  /// Whether something is on its way, or waits for its time.
  var isBusy: Bool {
    engine.isSynchronizing || engine.session?.state.hasWorkQueued == true
  }

  // MARK: The user

  /// Runs SQL, as an app does, and says so.
  func edit(_ words: String, sql: String) throws {
    try setClock(to: world.now)
    try database.execute(sql)
    listener.tell(DemoWords(text: words))
    engine.sendChanges()
  }

  /// Sets the time that edits are given: simulated, until it is nil.
  private func setClock(to time: Timestamp?) throws {
    let fixed = time.map { "\($0.nanoseconds / 1_000_000)" } ?? "NULL"
    try database.execute("UPDATE cloudsync_clock SET fixed = \(fixed)")
  }

  func start() throws {
    try setClock(to: world.now)
    try engine.start()
  }

  func goOffline() {
    network.isOnline = false
    listener.tell(DemoWords(text: "goes offline", isDetail: true))
  }

  func goOnline() {
    network.isOnline = true
    listener.tell(DemoWords(text: "is online again", isDetail: true))
    engine.session?.connectivityChanged()
    engine.fetchChanges()
  }

  /// Lets nothing go wrong any more, and the user sync once more.
  func endFaults() throws {
    faults.plan = .none
    try setClock(to: world.now)
    try engine.start()
    try engine.retryParked()
    engine.fetchChanges()
  }

  /// Ends the event logs, and lets time be real again for whoever looks at the database later.
  func end() throws {
    for recording in listener.recordings { recording.recorder.detach(from: recording.session) }
    try setClock(to: nil)
  }
}
