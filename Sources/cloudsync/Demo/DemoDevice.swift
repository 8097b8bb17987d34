import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator

/// A device of the demonstration: notes in a SQLite database, and an engine under them.
final class DemoDevice: Sendable {
  /// A session of the engine's, and the log of it.
  struct Recording: Sendable {
    var session: CloudSyncSession
    var recorder: EventRecorder
    var path: String
  }

  let name: String
  let database: DatabaseFile
  let engine: SyncEngine
  let network: DemoNetwork
  private let world: SimulatedEnvironment
  private let faults: FaultyOperationHandler
  private let listener: DemoListener

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
    listener = DemoListener(name, folder, connection.accountStatus, tell: tell)
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
  var recordings: [Recording] { listener.recordings }
  /// How many rows had to be merged.
  var conflicts: Int { listener.conflicts }

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
    for recording in recordings { recording.recorder.detach(from: recording.session) }
    try setClock(to: nil)
  }
}

/// Hears what the engine's sessions do, and records it.
private final class DemoListener: Sendable {
  private struct State {
    var recordings: [DemoDevice.Recording] = []
    var problem: String?
    var conflicts = 0
  }

  let tell: @Sendable (DemoWords) -> Void
  private let name: String
  private let folder: DemoFolder
  private let accountStatus: AccountStatusProvider
  private let state = Locked(State())

  init(
    _ name: String,
    _ folder: DemoFolder,
    _ accountStatus: AccountStatusProvider,
    tell: @escaping @Sendable (DemoWords) -> Void
  ) {
    self.name = name
    self.folder = folder
    self.accountStatus = accountStatus
    self.tell = tell
  }

  var recordings: [DemoDevice.Recording] { state.withLock { $0.recordings } }
  var problem: String? { state.withLock { $0.problem } }
  var conflicts: Int { state.withLock { $0.conflicts } }

  func fail(because problem: String) { state.withLock { $0.problem = $0.problem ?? problem } }

  /// Takes a session that is about to start; the engine makes a new one where it begins anew.
  func attach(to session: CloudSyncSession) {
    let number = recordings.count + 1
    let path = folder.file(named: number == 1 ? "\(name).jsonl" : "\(name)-\(number).jsonl")
    let recorder = EventRecorder(.file(LogFile(path: path)), redactor: .none)
    recorder.attach(to: session)
    state.withLock {
      $0.recordings.append(.init(session: session, recorder: recorder, path: path))
    }
    session.appendMiddleware(AccountStatusMiddleware(provider: accountStatus))
    session.eventsPublisher.sink { [tell] record in
      if let words = record.event.demoWords { tell(words) }
    }
    session.modifyWorkCompletedSubject.sink { [tell, state] _, response in
      let names = response.failures.filter { $0.error.code == .awaitsAppEdit }
        .map { String($0.recordID.name.prefix { $0 != ":" }) }
      if names.isEmpty { return }
      // The zone's own record is no row.
      let rows = names.filter { !$0.hasPrefix("cloudsync_") }
      state.withLock { $0.conflicts += rows.count }
      let which =
        switch rows.count {
        case 0: "the zone's own record"
        case ...3: rows.joined(separator: ", ")
        default: Phrase.count(rows.count, "row")
        }
      tell(
        DemoWords(text: "conflict on \(which): merges both edits, sends", isDetail: rows.isEmpty)
      )
    }
    session.zoneSubject.sink { [tell] zone in
      switch zone {
      case .lost, .creating(.some):
        tell(DemoWords(text: "finds the zone gone: creates it again, sends all its rows"))
      default: break
      }
    }
  }
}
