import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One run of an engine: from a start to the stop, or the renewal, that ends it.
///
/// All that belongs to one session is here, so whatever is told of an ended run changes nothing of the next one.
final class EngineRun: Sendable {
  struct State {
    /// Whether it has begun to send and to fetch.
    var hasStarted = false
    /// Whether a look at what is to be sent is due.
    var isFeedDue = false
    /// Whether a fetch has to tell what became of a record.
    var isFetchDue = false
    /// The operations that the session has not completed.
    var inFlight: [Int64: SentBatch] = [:]
    var fetches = 0
    /// What is looked up, by the fetches that do it.
    var lookups: [OperationID: [LookUp]] = [:]
    /// How many answers had said that the cloud lacks a record when the first of the fetches was asked for that the
    /// next series of pages answers, and of the series that is under way; nil if nobody knows.
    var absencesBefore: (next: Int64?, present: Int64?) = (nil, nil)
    /// The page of the session's that has come last.
    var lastPage: PageID?
    /// Over what the session has halted.
    var halt: SyncError?
    /// The cloud's error that was published last.
    var lastError: SyncError?
    /// What could not be done yet because the database was locked, in order.
    var backlog: [Step] = []
    /// How often in a row the database was locked.
    var retries = 0
    /// What the session has learnt and is not written yet.
    var essence: [UInt8]?
    /// The essence that was seen last.
    var lastEssence: [UInt8]?
    /// How far the cloud's history had come when that was stored last.
    var storedHistory: [ChangeToken]
    /// Whether the cloud has refused the zone's record since anything was fetched.
    var isZoneRecordRefused = false
    /// What has come from the cloud and is not stored yet.
    var group = CloudGroup()
    /// A fetch that is to follow what was stored, when no other is under way.
    var nextFetch: FetchOperation?
    /// Whether the last page that has come was not the last one of its fetch.
    var isPageDue = false
    /// Whether all rows were counted that wait to be sent, since there were more than are counted every time.
    var isPendingKnown = false
    /// Why it waits, and until when.
    var waits = Waits()
    /// Whether everything was fetched, and it is not noted yet that all is done.
    var isSyncUnnoted = false
    /// How far a table was compared whose rows are sent as they are found; nil if that is what is stored.
    var comparedTo: Reconciliation.Position?

    var recordsInFlight: Int { inFlight.values.reduce(0) { $0 + $1.count } }
    var rowsInFlight: Int { inFlight.values.reduce(0) { $0 + $1.rows.count + $1.found.count } }
  }

  let session: CloudSyncSession
  /// Carries the session's requests, and shows with each what the cloud has told.
  let history: HistoryKeepingHandler
  let control: EngineControl
  let state: Locked<State>
  private let timers = Locked<(retry: any SyncTimer, group: any SyncTimer)?>(nil)

  var context: EngineContext { control.context }
  var retryTimer: (any SyncTimer)? { timers.withLock { $0?.retry } }
  var groupTimer: (any SyncTimer)? { timers.withLock { $0?.group } }
  /// Whether it is the one that is under way.
  var isUnderWay: Bool { control.run === self }

  init(
    _ session: CloudSyncSession,
    by history: HistoryKeepingHandler,
    storedHistory: [ChangeToken],
    control: EngineControl
  ) {
    self.session = session
    self.history = history
    self.control = control
    // The session's new epoch is stored before anything is sent.
    let essence = [UInt8](session.state.essence.data)
    state = Locked(
      State(essence: essence, lastEssence: essence, storedHistory: storedHistory)
    )
    let context = control.context
    let retryTimer = context.environment.makeTimer(context.executor) { [weak self] in self?.retry()
    }
    let groupTimer = context.environment.makeTimer(context.executor) { [weak self] in
      self?.storeGroup()
    }
    timers.withLock { $0 = (retryTimer, groupTimer) }
  }

  // MARK: Life

  /// Starts the session, sends what was edited, and fetches.
  func start(fetching operation: FetchOperation) {
    listen()
    context.options.sessionWillStart?(session)
    // It comes before whatever the session itself gives cause to fetch: a zone may be ready before a call of `start()`
    // returns. Behind another fetch, this one would begin from nothing where rows are on their way already.
    fetch(operation)
    session.start()
    sendChanges()
    state.withLock { $0.hasStarted = true }
    if case .lost(let loss) = session.state.zoneState {
      perform { (run) throws(SyncEngineError) in
        try run.control.take(loss)
        run.lookForZone()
      }
    }
  }

  /// Stops the session; whoever has the run under way has let go of it before.
  func end() {
    cancelTimers()
    session.stop()
  }

  func cancelTimers() {
    retryTimer?.cancel()
    groupTimer?.cancel()
  }

  /// Runs a body in a transaction of this run; see ``EngineControl/transaction(for:_:)``.
  func transaction<Value: Sendable>(
    _ body: @Sendable (SyncTransaction) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    try control.transaction(for: .run(self), body)
  }

  // MARK: Sending and fetching

  /// Looks for edits, and sends them; returns at once.
  func sendChanges() {
    let isNew = state.withLock { state in
      defer { state.isFeedDue = true }
      return !state.isFeedDue
    }
    guard isNew else { return }
    perform { (run) throws(SyncEngineError) in
      run.state.withLock { $0.isFeedDue = false }
      try run.feed()
    }
  }

  /// Fetches what has changed in the cloud; returns at once.
  func fetchChanges() {
    // One that is to follow tells all of it.
    if state.withLock({ $0.nextFetch == nil }) { fetch(FetchOperation()) }
    lookForZone()
  }

  /// Begins the fetch that is to follow what was stored.
  ///
  /// Behind another one it would begin where that ends, and not at the stored token: two engines on one database would
  /// fetch without end.
  func fetchNext() {
    let next = state.withLock { state -> FetchOperation? in
      guard state.fetches == 0 else { return nil }
      defer { state.nextFetch = nil }
      return state.nextFetch
    }
    if let next { fetch(next) }
  }

  @discardableResult
  func fetch(_ operation: FetchOperation, waiter: FetchWaiter? = nil) -> OperationID {
    let absences = control.state.withLock { $0.absences }
    state.withLock { state in
      state.fetches += 1
      if operation.isLookup == false, state.absencesBefore.next == nil {
        state.absencesBefore.next = absences
      }
    }
    let id = session.fetch(operation) { [weak self] result in
      // A session that is released fails what it has, wherever that happens.
      guard let self, isUnderWay else { return }
      let hasEnded = Locked(false)
      perform { (run) throws(SyncEngineError) in
        // A step that fails is done again, and the fetch has ended once.
        let isFirst = hasEnded.withLock { hasEnded in
          defer { hasEnded = true }
          return !hasEnded
        }
        if isFirst {
          run.state.withLock { $0.fetches -= 1 }
          run.fetchNext()
        }
        guard case .success = result, operation.isLookup == false else {
          waiter?.end(hasFetched: false)
          return
        }
        run.state.withLock { $0.isSyncUnnoted = true }
        try run.fetchAllIfDue()
      }
    }
    control.report()
    return id
  }

  /// Looks whether another device has answered for the zone that is lost here: then nobody is asked any more.
  ///
  /// Only its record says so. A zone without it is being made, and whether rows are to be erased is not told yet.
  func lookForZone() {
    guard isUnderWay, case .lost = session.state.zoneState else { return }
    let recordID = RecordID(name: ZoneRecord.name, zoneID: context.zoneID)
    fetch(FetchOperation(lookingUp: [recordID]))
  }
}
