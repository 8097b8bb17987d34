import CloudSyncCore
import CloudSyncSQLiteSupport

/// What an engine tells of all its runs.
struct EngineReport: Sendable {
  /// When everything was synced last.
  var lastSync: Timestamp?
  /// How far the present run of work has come.
  var progress = SyncActivity.Progress()
  /// How many records had been fetched when that was noted last.
  var received = 0
  /// The error of the database that is waited for, or that has ended the last run.
  var databaseError: SyncEngineError?
  /// The cloud's error that the last run has met, and over which it has halted.
  var cloudError: SyncError?
  /// Those who wait for a fetch.
  var fetchWaiters: [FetchWaiter] = []

  /// Notes that another run begins.
  mutating func begin() { (databaseError, cloudError) = (nil, nil) }
}

/// What the engine is doing, and who waits for it.
extension EngineControl {
  var activity: SyncActivity {
    let (run, counts, report) = state.withLock { ($0.run, $0.counts, $0.report) }
    var activity = run?.activity ?? SyncActivity()
    activity.counts = counts
    activity.pendingRows += counts.pending
    activity.progress = report.progress
    activity.lastSync = report.lastSync
    activity.databaseError = report.databaseError
    if run == nil { activity.cloudError = report.cloudError }
    activity.explain(waits: run?.waits, at: context.environment.now())
    return activity
  }

  /// Whether a run has nothing to do that can be done now.
  private func isAtRest(_ activity: SyncActivity, in run: EngineRun?) -> Bool {
    guard activity.isRunning, !activity.isHalted, !activity.isSynchronizing else { return false }
    return run?.hasWork == false
  }

  /// Tells what the engine is doing, and those who wait for it to be done.
  func report() {
    let run = run
    var now = activity
    let isDone = isAtRest(now, in: run)
    now.progress = state.withLock { state in
      let more = state.counts.received - state.report.received
      state.report.received = state.counts.received
      if now.isRunning {
        state.report.progress.note(left: now.pendingRows, received: more, isAtRest: isDone)
      }
      return state.report.progress
    }
    context.publishers.activity.send(now)
    if !now.isRunning || now.isHalted || !now.isFetching && run?.hasStarted == true {
      endFetchWaiters(now)
    }
    guard !now.isRunning || now.isHalted || isDone else { return }
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    if waiters.isEmpty { return }
    let halt = run?.state.withLock { $0.halt }
    let outcome = !now.isRunning ? SyncOutcome.stopped : halt.map { .halted($0) } ?? .done
    for waiter in waiters { waiter.end(outcome) }
  }

  private func endFetchWaiters(_ now: SyncActivity) {
    let waiters = state.withLock { state in
      defer { state.report.fetchWaiters = [] }
      return state.report.fetchWaiters
    }
    for waiter in waiters {
      waiter.end(hasFetched: now.isRunning && !now.isHalted, received: now.counts.received)
    }
  }

  /// Notes what a run leaves that ends: rows in flight are pending again.
  func noteEnd(of run: EngineRun) {
    let (rows, error) = run.state.withLock { ($0.rowsInFlight, $0.halt ?? $0.lastError) }
    state.withLock { state in
      state.counts.pending += rows
      state.report.cloudError = error
    }
  }

  /// Reads what is told of an engine that has not been started.
  func readReport() throws(SyncEngineError) {
    let (lastSync, pending) = try context.database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        let storage = EngineStorage(connection: connection)
        return (try storage.facts.integer(.lastSync), try storage.pending.dirtyCount())
      }
    }
    state.withLock { state in
      state.report.lastSync = lastSync.map { Timestamp(nanoseconds: $0 * 1_000_000) }
      state.counts.pending = Int(clamping: pending)
    }
  }
}

extension SyncActivity {
  /// Says whether the engine waits, until when, and what it does, in words.
  fileprivate mutating func explain(waits: EngineRun.Waits?, at now: Timestamp) {
    guard isRunning, let waits else {
      explanation = databaseError.map { "Stopped (\($0.reason))." } ?? "Stopped."
      return
    }
    if isHalted {
      explanation = waits.session?.description ?? "Stopped."
    } else if let error = databaseError {
      isWaiting = true
      nextAttempt = waits.retry
      explanation =
        "Waiting for the database (\(error.reason))\(Self.words(for: nextAttempt, at: now))."
    } else if let session = waits.session, isSynchronizing || pendingRows > 0 || question != nil {
      isWaiting = true
      nextAttempt = session.nextTry
      explanation = session.description
    } else if isSynchronizing {
      let sent = isSending ? "Sending \(Phrase.count(sending, "record"))" : nil
      explanation =
        isFetching ? sent.map { "\($0) and fetching." } ?? "Fetching." : "\(sent ?? "Working")."
    } else if pendingRows > 0 {
      isWaiting = waits.next != nil
      nextAttempt = waits.next
      explanation =
        "\(Phrase.count(pendingRows, "row")) could not be sent\(Self.words(for: nextAttempt, at: now))."
    } else {
      explanation = "Everything is synced."
    }
  }

  private static func words(for attempt: Timestamp?, at now: Timestamp) -> String {
    guard let attempt else { return "" }
    let delay = Phrase.duration(max(0, now.distance(to: attempt)), decimals: 1)
    return "; next attempt in \(delay)"
  }
}
