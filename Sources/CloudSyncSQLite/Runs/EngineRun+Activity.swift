import CloudSyncCore
import CloudSyncSQLiteSupport

/// What a run does and waits for.
extension EngineRun {
  /// Why a run waits, and until when.
  struct Waits: Sendable {
    /// What the session says while something keeps it from its work, or has halted it.
    var session: Explanation?
    /// When what the database could not do is tried again.
    var retry: Timestamp?
    /// When something that was rejected may be sent again.
    var next: Timestamp?
  }

  /// What keeps a session from its work, and does not pass in the next moment.
  private static let obstacles: WaitReasons = [
    .accountUnknown, .accountAway, .accountSwitched, .gate, .zone, .quota,
  ]

  var waits: Waits { state.withLock { $0.waits } }
  var hasStarted: Bool { state.withLock { $0.hasStarted } }
  /// Whether something is to be done that is neither sent nor fetched yet.
  var hasWork: Bool {
    state.withLock { $0.isFeedDue || !$0.hasStarted || !$0.backlog.isEmpty }
  }

  var activity: SyncActivity {
    let question = question
    return state.withLock { state in
      var activity = SyncActivity()
      activity.isRunning = true
      activity.isHalted = state.halt != nil
      // What a halted session has is not on its way.
      activity.sending = activity.isHalted ? 0 : state.recordsInFlight
      activity.isFetching = !activity.isHalted && (state.fetches > 0 || !state.group.isEmpty)
      activity.pendingRows = state.rowsInFlight
      activity.cloudError = state.halt ?? state.lastError
      activity.question = question
      return activity
    }
  }

  /// What the app has to answer; nil if nothing.
  var question: SyncQuestion? {
    let state = session.state
    if case .switched(let from, let to) = state.accountState {
      return .accountSwitched(from: from, to: to)
    }
    if case .lost(let loss) = state.zoneState { return .zoneLost(loss) }
    return nil
  }

  /// Notes what keeps the session from its work.
  func noteWaits(of session: SyncState) {
    guard isUnderWay else { return }
    let now = context.environment.now()
    // While a request is in flight nothing is in the way, and the words cost more than an event.
    let explanation = session.operationMode == nil ? session.explain(at: now) : nil
    let waits = explanation.flatMap { explanation in
      explanation.reasons.isDisjoint(with: Self.obstacles) ? nil : explanation
    }
    let isNew = state.withLock { state in
      defer { if state.halt == nil { state.waits.session = waits } }
      return state.halt == nil && state.waits.session != waits
    }
    if isNew { control.report() }
  }

  /// Notes when something that was rejected may be sent again, in how many milliseconds.
  func noteNextLook(in milliseconds: Int64?) {
    let time = milliseconds.map { milliseconds in
      context.environment.now().advanced(byNanoseconds: (milliseconds + 1) * 1_000_000)
    }
    state.withLock { $0.waits.next = time }
  }

  /// Notes what the database cannot do, or that it has done something.
  func noteDatabase(error: SyncEngineError?) {
    if error == nil { state.withLock { $0.waits.retry = nil } }
    control.state.withLock { state in
      if state.run === self { state.report.databaseError = error }
    }
  }

  /// Notes when everything was synced last, once everything was fetched and nothing is left to be sent.
  func noteSyncIfDone() {
    let isDue = state.withLock { state in
      let isDue =
        state.isSyncUnnoted && state.halt == nil && state.fetches == 0 && state.group.isEmpty
        && state.inFlight.isEmpty && !state.isFeedDue && state.backlog.isEmpty
      if isDue { state.isSyncUnnoted = false }
      return isDue
    }
    guard isDue, isUnderWay else { return }
    let step = Step { (run) throws(SyncEngineError) in try run.noteSync() }
    if !hasDone(step) { state.withLock { $0.backlog.insert(step, at: 0) } }
  }

  private func noteSync() throws(SyncEngineError) {
    let now = context.environment.now().nanoseconds / 1_000_000
    try transaction { (transaction) throws(SQLiteError) in
      try transaction.facts.set(.lastSync, to: .integer(now))
    }
    control.state.withLock { $0.report.lastSync = Timestamp(nanoseconds: now * 1_000_000) }
  }
}
