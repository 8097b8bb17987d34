import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One run of `cloudsync sync`.
final class SyncRun {
  let request: SyncCommand.Request
  let database: DatabaseFile
  /// The file that is open: another one may take its name.
  let file: SamePath.Identity?
  let engine: SyncEngine
  let target: DatabaseArguments
  let cloud: any CloudPlace
  /// What the cloud is to the database before it is attached.
  private let relation: CloudRelation
  private let recorder: EventRecorder?
  /// Where large BLOBs are while they are on their way.
  private let assetFolder: String
  private let error = Locked<SyncEngineError?>(nil)
  private let cloudError = Locked<SyncError?>(nil)
  private let activity = Locked(SyncActivity())
  /// What a first sync has changed in rows that were here; nil where it is none, or is over.
  private let firstSync = Locked<FirstSync?>(nil)
  /// The tables that nobody has decided about.
  let newTables: [String]
  private let unitedRows = Locked<[UnitedRow]>([])
  private let clock = ContinuousClock()
  private var hasExplained = false

  /// How long nothing may happen before it is said why.
  private static let patience = Duration.seconds(3)

  init(_ request: SyncCommand.Request, in target: DatabaseArguments, console: Console) throws {
    self.request = request
    self.target = target
    assetFolder = Self.assetFolder(of: request.path)
    let (formerMode, formerTables) = try target.naming {
      let database = try DatabaseFile(path: request.path, access: .readOnly)
      return (
        try SyncMetadata.journalMode(of: database),
        try SyncMetadata.read(from: database)
          .map { ($0.tables + $0.leftOutTables).map(\.name) } ?? []
      )
    }
    cloud = try SyncCommand.open(request, stagingIn: assetFolder)
    database = try target.naming {
      try DatabaseFile(path: request.path, enforcesForeignKeys: request.enforcesForeignKeys)
    }
    file = SamePath.Identity(path: request.path)
    let (database, cloud) = (database, cloud)
    relation = try target.naming { try cloud.check(request, console: console) }
    var options = request.options
    options.accountProvider = cloud.account
    options.assets = cloud.assets(stagedIn: assetFolder)
    let recorder = request.log.map { EventRecorder(.file(LogFile(path: $0))) }
    self.recorder = recorder
    if let recorder { options.sessionWillStart = { recorder.attach(to: $0) } }
    engine = try target.naming {
      try SyncEngine(
        database: database,
        tables: request.tables,
        zoneID: request.zoneID,
        operationHandler: cloud.handler,
        options: options
      )
    }
    newTables = try target.naming { try request.unsynced.new(in: database) }
    if request.place == nil, formerMode != "wal" {
      try target.naming { try SyncMetadata.noteJournalMode(formerMode, in: database) }
    }
    try keepPolicies(formerTables: formerTables, console: console)
    engine.errors.sink { [error] new in error.withLock { $0 = $0 ?? new } }
    engine.cloudErrors.sink { [cloudError] new in cloudError.withLock { $0 = new } }
    let isAttaching = request.isAttaching
    let first = request.tables.filter { name in
      isAttaching || !formerTables.contains { $0.isSameName(as: name) }
    }
    if !first.isEmpty {
      firstSync.withLock { $0 = FirstSync(of: first, isAttaching: isAttaching) }
      engine.changes.sink { [firstSync] changes in firstSync.withLock { $0?.add(changes) } }
    }
    engine.unitedRows.sink { [unitedRows] new in unitedRows.withLock { $0 += new } }
    engine.activity.sink { [activity] new in activity.withLock { $0 = new } }
  }

  /// Keeps the policies for the next run, and warns where rows were merged by others until now.
  private func keepPolicies(formerTables: [String], console: Console) throws {
    let (policies, path) = (request.policies, request.path)
    let kept = try target.naming { try SyncMetadata.toolPolicies(of: database) }
    if policies.text == kept { return }
    try target.naming { try SyncMetadata.noteToolPolicies(policies.text, in: database) }
    let former = SyncPolicies(kept)
    let common = formerTables.filter(request.tables.contains)
    guard request.place != nil, policies.differs(from: former, for: common) else { return }
    console.note(
      "warning: \(path): this copy merges by other policies than before (\(policies), not \(former)); all copies"
        + " need the same: give every other one the same options"
    )
  }

  var counts: SyncCounts { activity.withLock { $0.counts } }
  /// Whether there is nothing to do.
  var isIdle: Bool { activity.withLock { !$0.isSynchronizing } }

  /// Takes the error over which the engine has stopped.
  func takeError() -> SyncEngineError? {
    error.withLock { error in
      defer { error = nil }
      return error
    }
  }

  /// Takes the rows that have become one with others since the last call.
  func takeUnitedRows() -> [UnitedRow] {
    unitedRows.withLock { rows in
      defer { rows = [] }
      return rows
    }
  }

  /// Takes the error of the cloud's that has come last.
  func takeCloudError() -> SyncError? {
    cloudError.withLock { error in
      defer { error = nil }
      return error
    }
  }

  // MARK: The run

  func run(console: Console) throws {
    Interrupt.begin()
    defer { Interrupt.end() }
    do {
      try target.naming {
        if request.isAttaching { try attach(console: console) }
        if request.isRescanning { try engine.rescan() }
      }
      guard try start(console: console) else { return try close() }
      let isDone = try synchronize(console: console)
      if isDone {
        try cloud.restoreAssets(
          from: database,
          tables: request.tables,
          isAsked: request.isRescanning || request.isAttaching,
          console: console
        )
      }
      let verification = isDone && request.isVerifying ? try verify() : nil
      let summary = try SyncSummary(
        self,
        firstSync: firstSync.withLock { $0 },
        verification: verification
      )
      try summary.show(console: console)
      try warn(of: summary.united, console: console)
      if isDone, request.isWatching { try SyncWatch(self).run(console: console) }
      try close()
      if !isDone {
        console.note("stopped before the end; the next run goes on")
        throw ToolError.negative
      }
      if verification?.differences.isEmpty == false { throw ToolError.negative }
      if summary.hasParked { throw ToolError.parked }
    } catch {
      engine.stop()
      throw error
    }
  }

  /// Starts the engine; false if the user does not want to wait any longer until another connection lets a watch begin.
  private func start(console: Console) throws -> Bool {
    while true {
      do throws(SyncEngineError) {
        try engine.start()
        try engine.retryParked()
        return true
      } catch {
        guard request.isWatching else { throw target.failure(for: error) }
        engine.stop()
        try note(busy: error, console: console)
      }
      let never = DispatchSemaphore(value: 0)
      _ = never.wait(timeout: .now() + .seconds(1))
      if Interrupt.hasCome { return false }
    }
  }

  /// Has all rows merged with those of a cloud that they were not synced with, or that has lost changes.
  private func attach(console: Console) throws {
    guard let attached = relation.attached(creates: request.creates) else {
      return console.note(
        "\(request.path) belongs to \(request.cloud) already; it is synced"
      )
    }
    if relation == .restored { try cloud.renewHistory(after: request.place?.token) }
    try engine.attach(to: attached)
  }

  /// Sends and fetches until nothing is left; returns false if the user wants it to end before.
  private func synchronize(console: Console) throws -> Bool {
    let done = DispatchSemaphore(value: 0)
    engine.syncChanges { _ in done.signal() }
    var last = (counts: counts, time: clock.now)
    while true {
      let isOver = done.wait(timeout: .now() + .milliseconds(100)) == .success
      if try isStopped(console: console) {
        guard try start(console: console) else { return false }
        engine.syncChanges { _ in done.signal() }
        continue
      }
      if isOver { break }
      if Interrupt.hasCome { return false }
      if counts != last.counts { last = (counts, clock.now) }
      if clock.now - last.time > Self.patience { try explainWait(console: console) }
      if let text = activity.withLock({ $0.progress }).text() { console.progress(text) }
    }
    try throwIfStuck()
    if let text = activity.withLock({ $0.progress }).text(isOver: true) { console.progress(text) }
    console.endProgress()
    settle()
    return true
  }

  /// Compares everything.
  private func verify() throws -> SyncVerification {
    let result = Locked<Result<SyncVerification, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    engine.verify { new in
      result.withLock { $0 = new }
      done.signal()
    }
    done.wait()
    guard let result = result.withLock({ $0 }) else {
      throw ToolError.failure("\(request.path): it could not be compared")
    }
    return try target.naming { try result.get() }
  }

  /// Names rows that are left out, and, the first time or where everything is compared, those that other copies cannot
  /// store.
  private func warn(of united: [UnitedRow], console: Console) throws {
    let rows = try target.naming { try engine.unnamedRows(limit: 3) }
    for row in rows { console.note("warning: \(request.path): \(row.reason)") }
    if request.place == nil {
      for reason in request.warnings { console.note("warning: \(request.path): \(reason)") }
    }
    let first = firstSync.withLock { first in
      defer { first = nil }
      return first
    }
    let note = request.unsynced.note(of: newTables, path: request.path, cloud: request.cloud)
    if let note { console.note(note) }
    if let first {
      let metadata = try target.naming { try SyncMetadata.read(from: database) }
      let held = (metadata?.parked ?? []) + (metadata?.waiting ?? [])
      for warning in first.warnings(path: request.path, besides: united, held: held) {
        console.note(warning)
      }
    }
    try warnOfDanglingReferences(console: console)
  }

  private func warnOfDanglingReferences(console: Console) throws {
    guard request.place == nil || request.isVerifying else { return }
    let dangling = try target.naming { try engine.danglingReferences() }
    for warning in SchemaViolation.warnings(of: dangling) {
      console.note("warning: \(request.path): \(warning.reason)")
    }
  }

  /// Gives the session a moment to note what it has announced, so that it is not announced again.
  private func settle() {
    let end = clock.now + Self.patience
    let never = DispatchSemaphore(value: 0)
    while clock.now < end, let state = engine.session?.state,
      state.hasWorkQueued || !state.notifications.queue.isEmpty
    {
      _ = never.wait(timeout: .now() + .milliseconds(10))
    }
  }

  /// Whether the engine has stopped over a lock that a watch waits for; throws what else it has stopped over.
  private func isStopped(console: Console) throws -> Bool {
    if request.isWatching, try passOverBusy(console: console) { return !engine.isRunning }
    try throwIfStuck()
    return false
  }

  /// Says that another connection keeps the database locked, which a watch waits for; throws another error of the engine.
  ///
  /// - Returns: Whether it was so.
  @discardableResult
  func passOverBusy(console: Console) throws -> Bool {
    guard let error = takeError() else { return false }
    try note(busy: error, console: console)
    return true
  }

  private func note(busy error: SyncEngineError, console: Console) throws {
    guard error.code == .busy else { throw target.failure(for: error) }
    console.note("\(request.path): \(error.reason)")
  }

  /// Throws what the engine has stopped over, or its session.
  func throwIfStuck() throws {
    if let error = takeError() { throw target.failure(for: error) }
    try throwIfHalted()
  }

  /// Throws what only the user can decide, or why the session has halted.
  func throwIfHalted() throws {
    if case .accountSwitched(let owner, let newcomer)? = engine.question {
      throw ToolError.failure(
        "\(request.path): its rows belong to the account “\(owner.value)”, and the token is that of"
          + " “\(newcomer.value)”; use a token of “\(owner.value)”, or give the rows to “\(newcomer.value)” with"
          + " “cloudsync attach \(request.path.argument) --cloud \(request.cloud.argument) --merge”"
      )
    }
    guard let reason = engine.session?.state.haltReason else { return }
    throw ToolError.failure(
      "\(request.path) cannot be synchronized with \(request.cloud): \(reason.error)"
    )
  }

  /// Says once why nothing goes on, and throws if waiting does not help.
  private func explainWait(console: Console) throws {
    guard !hasExplained, let session = engine.session, session.explain().reasons.contains(.gate)
    else { return }
    hasExplained = true
    try cloud.checkAccess()
    let error = session.state.lastRetryError.map { ": \($0)" } ?? ""
    console.note("waiting for \(request.cloud)\(Words.line(error))")
  }

  /// Stops, and ends the log.
  private func close() throws {
    let session = engine.session
    if let session { recorder?.detach(from: session) }
    engine.stop()
    // Whoever copies the file has everything then; while somebody else reads, it is done by the next run.
    try target.naming {
      try database.execute("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    // What has come is in the database; it is fetched again where it could not be stored.
    NewFolder.removeTemporary(at: assetFolder + "/received")
    // It stays where something is left in it.
    rmdir(assetFolder)
    try recorder?.flush()
  }

  /// Where a database's large values are while they are on their way.
  static func assetFolder(of path: String) -> String { path + "-cloudsync-assets" }
}
