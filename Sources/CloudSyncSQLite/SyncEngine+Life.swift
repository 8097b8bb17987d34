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
  public var session: CloudSyncSession? { control.run?.session }

  /// Whether the engine has been started.
  public var isRunning: Bool { control.run != nil }
  /// Whether records are on their way to the cloud.
  public var isSending: Bool { control.activity.isSending }
  /// Whether it fetches.
  public var isFetching: Bool { control.activity.isFetching }
  /// Whether it sends or fetches, or waits until it can.
  ///
  /// ``SyncActivity/isSyncing`` is false while it waits. The column `is_synchronizing` of the view `cloudsync_activity` is
  /// another thing: whether it is the engine that writes rows.
  public var isSynchronizing: Bool { control.activity.isSynchronizing }

  /// Starts: goes on where the last session stopped, sends what has been edited since, and fetches.
  ///
  /// A second call sets a session going again that has halted over an error, and changes nothing else.
  ///
  /// - Throws: That the database cannot be read or written.
  public func start() throws(SyncEngineError) {
    guard let run = control.run else { return try control.begin() }
    guard run.session.state.isHalted else { return }
    run.state.withLock { $0.halt = nil }
    run.session.start()
  }

  /// Stops; edits are captured all the same, and sent after the next start.
  public func stop() { control.stop() }

  /// Removes every trace of the engine from the database: tables, triggers, metadata.
  ///
  /// The rows stay as they are. The cloud is not touched.
  ///
  /// - Throws: That the database cannot be written, or that a trigger or a view of the app names a table of the engine: drop
  ///   it first, since it would fail without that.
  public func tearDown() throws(SyncEngineError) {
    // An engine that cannot be removed goes on.
    try context.database.use { (connection) throws(SyncEngineError) in
      try EngineTables.checkNobodyAsks(on: connection)
    }
    stop()
    try SyncMetadata.remove(from: context.database)
  }

  // MARK: Sending and fetching

  /// Looks for edits, and sends them; returns at once.
  ///
  /// Call it after a transaction that has edited rows. It may be called any number of times.
  public func sendChanges() { control.run?.sendChanges() }

  /// Fetches what has changed in the cloud; returns at once.
  public func fetchChanges() { control.run?.fetchChanges() }

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
    control.state.withLock { $0.waiters.append(waiter) }
    if let limit {
      let timer = context.environment.makeTimer(context.executor) { [weak self] in
        waiter.end(self?.session.map { .waiting($0.explain()) } ?? .stopped)
      }
      waiter.keep(timer)
      timer.schedule(after: limit.clampedNanoseconds)
    }
    // After everything that was called for before.
    context.executor.run { [control] in control.report() }
  }
}
