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
      if session.state.isHalted {
        state.withLock { $0.halt = nil }
        session.start()
      }
      return
    }
    try begin()
  }

  /// Makes a session and starts it.
  func begin() throws(SyncEngineError) {
    let session = makeSession(try storedEssence())
    let essence = [UInt8](session.state.essence.data)
    let generation = state.withLock { state in
      state.leave()
      state.isWanted = true
      state.session = session
      // The session's new epoch is stored before anything is sent.
      (state.essence, state.lastEssence) = (essence, essence)
      return state.generation
    }
    let operation: FetchOperation
    do throws(SyncEngineError) {
      operation = try transaction(generation) { (transaction) throws(SQLiteError) in
        try transaction.cloud.adoptForeignRecords()
        try TombstonePurge(transaction: transaction).adoptTombstones()
        guard let token = try transaction.facts.token() else {
          return FetchOperation(startingOver: true)
        }
        let isAll = try transaction.facts.value(.fetchAll) != nil
        return FetchOperation(changeToken: token, startingOver: isAll)
      }
    } catch {
      // Else the next start would find an engine that seems to run.
      stop()
      throw error
    }
    listen(to: session, generation)
    options.sessionWillStart?(session)
    session.start()
    sendChanges()
    fetch(operation, session, generation)
    if case .lost(let loss) = session.state.zoneState {
      perform(generation) { [self] () throws(SyncEngineError) in
        try take(loss)
        lookForZone(generation)
      }
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
    groupTimer?.cancel()
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
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in try EngineTables.remove(connection) }
      }
    }
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
    lookForZone(generation)
  }

  func fetch(_ operation: FetchOperation, _ session: CloudSyncSession, _ generation: Int) {
    state.withLock { state in
      state.fetches += 1
      if operation.recordIDs.isEmpty, state.absencesBefore.next == nil {
        state.absencesBefore.next = state.absences
      }
    }
    session.fetch(operation) { [weak self] result in
      // A session that is released fails what it has, wherever that happens.
      guard let self, isCurrent(generation) else { return }
      perform(generation) { [self] () throws(SyncEngineError) in
        state.withLock { $0.fetches -= 1 }
        guard case .success = result, operation.recordIDs.isEmpty else { return }
        try noteSync()
        try fetchAllIfDue(generation)
      }
    }
    report()
  }

  /// Sends and fetches, and waits until both are done, the engine stops or halts, or a time is over.
  ///
  /// - Parameter limit: How long to wait at most; nil waits for as long as it takes, offline for ever.
  /// - Returns: How it has ended, with the reason if not everything is done.
  @discardableResult
  public func syncChanges(upTo limit: Duration? = nil) async -> SyncOutcome {
    await withCheckedContinuation { continuation in
      syncChanges(upTo: limit) { continuation.resume(returning: $0) }
    }
  }

  /// Sends and fetches, and calls a function when both are done, the engine stops or halts, or a time is over.
  ///
  /// - Parameters:
  ///   - limit: How long to wait at most; nil waits for as long as it takes.
  ///   - completion: Called once, on any thread; at once if the engine is stopped.
  public func syncChanges(
    upTo limit: Duration? = nil,
    completion: @escaping @Sendable (SyncOutcome) -> Void
  ) {
    guard isRunning else { return completion(.stopped) }
    // Begun before anybody may look whether it is done.
    sendChanges()
    fetchChanges()
    let waiter = SyncWaiter(completion)
    state.withLock { $0.waiters.append(waiter) }
    if let limit {
      let timer = environment.makeTimer(executor) { [weak self] in
        waiter.end(self?.session.map { .waiting($0.explain()) } ?? .stopped)
      }
      waiter.keep(timer)
      timer.schedule(after: limit.clampedNanoseconds)
    }
    // After everything that was called for before.
    executor.run { [self] in report() }
  }

  /// Notes when everything that the cloud had was fetched last, in milliseconds since 1970.
  private func noteSync() throws(SyncEngineError) {
    let now = environment.now().nanoseconds / 1_000_000
    try transaction { (transaction) throws(SQLiteError) in
      try transaction.facts.set(.lastSync, .integer(now))
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
      activity.isHalted = state.halt != nil
      // What a halted session has is not on its way.
      activity.sending = activity.isHalted ? 0 : state.recordsInFlight
      activity.isFetching = !activity.isHalted && (state.fetches > 0 || !state.group.isEmpty)
      activity.counts = state.counts
      return activity
    }
  }

  /// Tells what the engine is doing, and those who wait for it to be done.
  func report() {
    let now = currentActivity
    activity.send(now)
    let (isDue, halt) = state.withLock { ($0.isFeedDue, $0.halt) }
    guard !now.isRunning || now.isHalted || (!now.isSynchronizing && !isDue) else { return }
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    let outcome = !now.isRunning ? SyncOutcome.stopped : halt.map { .halted($0) } ?? .done
    for waiter in waiters { waiter.end(outcome) }
  }
}

/// Somebody who waits for a synchronization, and is told once.
final class SyncWaiter: Sendable {
  private let completion: Locked<(@Sendable (SyncOutcome) -> Void)?>
  private let timer = Locked<(any SyncTimer)?>(nil)

  init(_ completion: @escaping @Sendable (SyncOutcome) -> Void) {
    self.completion = Locked(completion)
  }

  func keep(_ timer: any SyncTimer) { self.timer.withLock { $0 = timer } }

  func end(_ outcome: SyncOutcome) {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    let timer = timer.withLock { timer in
      defer { timer = nil }
      return timer
    }
    timer?.cancel()
    completion?(outcome)
  }
}
