public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SyncEngine {
  // MARK: Life

  /// The session of the running engine, for its publishers, its state and its explanations.
  ///
  /// Decide about accounts and zones by the engine: the session knows edits only, and not the rows.
  public var session: CloudSyncSession? { state.withLock { $0.session } }

  /// Whether the engine has been started.
  public var isRunning: Bool { session != nil }
  /// Whether records are on their way to the cloud.
  public var isSending: Bool { currentActivity.isSending }
  /// Whether it fetches.
  public var isFetching: Bool { currentActivity.isFetching }
  /// Whether it sends or fetches.
  public var isSynchronizing: Bool { currentActivity.isSynchronizing }

  /// Starts: goes on where the last session stopped, sends what has been edited since, and fetches.
  ///
  /// A second call sets a session going again that has halted over an error, and changes nothing else.
  ///
  /// - Throws: That the database cannot be read or written.
  public func start() throws(SyncEngineError) {
    if let session {
      if session.state.isHalted { session.start() }
      return
    }
    try begin()
  }

  /// Makes a session and starts it.
  func begin() throws(SyncEngineError) {
    // Whatever has to be mended is mended before anything is read.
    if options.metadata != .sameFile { try transaction { (_) throws(SQLiteError) in } }
    let archive = try storedArchive()
    let session = makeSession(archive)
    let generation = state.withLock { state in
      state.leave()
      state.isWanted = true
      state.session = session
      return state.generation
    }
    let queued = archive?.state.modifyQueue ?? []
    let known = queued.map { (Int64($0.id.number), $0) }
    let isRebuilding: Bool
    do throws(SyncEngineError) {
      let ended = archive?.state.endedOperations ?? []
      let parked = archive?.state.parkedRecords.map(\.recordID) ?? []
      isRebuilding = try transaction(generation) { (work) throws(SQLiteError) in
        if archive == nil { try work.forgetPages() }
        try work.reconcile(known, ended: ended, parked: parked)
        return try work.store.info("rebuild") != nil
      }
    } catch {
      // Else the next start would find an engine that seems to run.
      stop()
      throw error
    }
    state.withLock { state in
      for (number, operation) in known { state.inFlight[number] = operation.itemCount }
    }
    listen(to: session, generation)
    beginJournal(of: session, generation)
    options.sessionWillStart?(session)
    session.start()
    sendChanges()
    fetch(FetchOperation(startingOver: isRebuilding), session, generation)
    if case .lost(let loss) = session.state.zoneState {
      perform(generation) { [self] () throws(SyncEngineError) in try take(loss) }
    }
  }

  /// Stops; edits are captured all the same, and sent after the next start.
  public func stop() {
    let session = state.withLock { state -> CloudSyncSession? in
      defer {
        state.isWanted = false
        state.leave()
      }
      return state.session
    }
    retryTimer?.cancel()
    session?.stop()
    report()
  }

  /// Removes every trace of the engine from the database: tables, triggers, metadata.
  ///
  /// The rows stay as they are. The cloud is not touched.
  ///
  /// - Throws: That the database cannot be written.
  public func tearDown() throws(SyncEngineError) {
    stop()
    try SyncMetadata.remove(from: database)
  }

  // MARK: Sending and fetching

  /// Looks for edits, and sends them; returns at once.
  ///
  /// Call it after a transaction that has edited rows. It may be called any number of times.
  public func sendChanges() {
    let generation = state.withLock { state -> Int? in
      guard state.session != nil, !state.isFeedDue else { return nil }
      state.isFeedDue = true
      return state.generation
    }
    guard let generation else { return }
    perform(generation) { [self] () throws(SyncEngineError) in
      state.withLock { $0.isFeedDue = false }
      try feed(generation)
    }
  }

  /// Fetches what has changed in the cloud; returns at once.
  public func fetchChanges() {
    guard let (session, generation) = running else { return }
    fetch(FetchOperation(), session, generation)
  }

  func fetch(_ operation: FetchOperation, _ session: CloudSyncSession, _ generation: Int) {
    state.withLock { $0.fetches += 1 }
    session.fetch(operation) { [weak self] result in
      // A session that is released fails what it has, wherever that happens.
      guard let self, isCurrent(generation) else { return }
      perform(generation) { [self] () throws(SyncEngineError) in
        state.withLock { $0.fetches -= 1 }
        if case .success = result { try noteSync() }
      }
    }
    report()
  }

  /// Sends and fetches, and waits until both are done or the engine stops.
  public func syncChanges() async {
    await withCheckedContinuation { continuation in syncChanges { continuation.resume() } }
  }

  /// Sends and fetches, and calls a function when both are done or the engine stops.
  ///
  /// - Parameter completion: Called once, on any thread; at once if the engine is stopped.
  public func syncChanges(completion: @escaping @Sendable () -> Void) {
    guard isRunning else { return completion() }
    sendChanges()
    fetchChanges()
    state.withLock { $0.waiters.append(completion) }
    // After everything that was called for before.
    executor.run { [self] in report() }
  }

  /// Notes when everything that the cloud had was fetched last, in milliseconds since 1970.
  private func noteSync() throws(SyncEngineError) {
    let now = environment.now().nanoseconds / 1_000_000
    try transaction { (work) throws(SQLiteError) in
      try work.store.setInfo("last_sync", .integer(now))
    }
  }

  var running: (session: CloudSyncSession, generation: Int)? {
    state.withLock { state in state.session.map { ($0, state.generation) } }
  }

  // MARK: Activity

  private var currentActivity: SyncActivity {
    state.withLock { state in
      var activity = SyncActivity()
      activity.isRunning = state.session != nil
      activity.sending = state.recordsInFlight
      activity.isFetching = state.fetches > 0
      activity.counts = state.counts
      return activity
    }
  }

  /// Tells what the engine is doing, and those who wait for it to be done.
  func report() {
    let now = currentActivity
    activity.send(now)
    let isDue = state.withLock { $0.isFeedDue }
    guard !now.isRunning || (!now.isSynchronizing && !isDue) else { return }
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter() }
  }
}
