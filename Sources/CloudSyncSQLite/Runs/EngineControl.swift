import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Begins and ends the runs of an engine, of which one at most is under way.
final class EngineControl: Sendable {
  struct State {
    /// The run that is under way; whatever another one still says is not heard.
    var run: EngineRun?
    /// What is done between two runs.
    var renewal: RenewalTurn?
    /// Whether the engine was started, and not stopped since.
    var isWanted = false
    var waiters: [SyncWaiter<SyncOutcome>] = []
    var counts = SyncCounts()
    /// Whether the account was away when its provider was last asked.
    var isAway = false
    /// How often the zone was lost since anything of it was seen.
    var zoneLosses = 0
    /// The tables, and the version of the schema that they were read from, or that does not differ in them.
    var tables: SyncTables
    var schemaVersion: Int64
    /// The number of its last start among those of all engines on the database.
    var start: Int64?
    /// How often it has captured its columns again since, after an engine that was started later.
    var takeovers = 0
    /// Whether they are to be read anew, though nobody has changed them.
    var learnsKinds = false
    /// How many answers have said that the cloud lacks a record, as of the last transaction.
    var absences: Int64 = 0
    /// What is told of all runs.
    var report = EngineReport()
  }

  let context: EngineContext
  let state: Locked<State>
  let changes: ChangeQueue<RowChanges>
  let unitedRows: ChangeQueue<[UnitedRow]>

  init(_ context: EngineContext, _ prepared: PreparedTables) {
    self.context = context
    changes = ChangeQueue(context.publishers.changes)
    unitedRows = ChangeQueue(context.publishers.unitedRows)
    state = Locked(State(tables: prepared.tables, schemaVersion: prepared.schemaVersion))
  }

  var tables: SyncTables { state.withLock { $0.tables } }

  /// The run that is under way.
  var run: EngineRun? { state.withLock { $0.run } }

  /// Makes a session and starts it.
  func begin() throws(SyncEngineError) {
    try context.database.use { (connection) throws(SyncEngineError) in
      // Who is started now captures its own columns.
      state.withLock { $0.start = nil }
      _ = try followSchema(on: connection)
      try noteStart(on: connection)
    }
    let stored = try context.database.storedHistory()
    let history = HistoryKeepingHandler(context.handler, tokens: stored)
    let session = context.makeSession(
      restoring: try context.database.storedEssence(),
      by: history
    )
    let run = EngineRun(session, by: history, storedHistory: stored, control: self)
    state.withLock { state in
      state.run = run
      state.renewal = nil
      state.isWanted = true
      state.report.begin()
    }
    let operation: FetchOperation
    do throws(SyncEngineError) {
      operation = try firstFetch(of: run)
    } catch {
      // Else the next start would find an engine that seems to run.
      state.withLock { $0.report.databaseError = error }
      stop()
      throw error
    }
    run.start(fetching: operation)
  }

  /// Notes that this engine is the one that was started last.
  private func noteStart(on connection: SQLiteConnection) throws(SyncEngineError) {
    let number = try sqlite { () throws(SQLiteError) in
      try connection.transaction { () throws(SQLiteError) in
        let facts = Facts(connection: connection)
        let number = (try facts.integer(.starts) ?? 0) + 1
        try facts.set(.starts, to: .integer(number))
        return number
      }
    }
    state.withLock { ($0.start, $0.takeovers) = (number, 0) }
  }

  /// Goes on with another run, since the tables were read anew: what the old one has sent and fetched names rows by
  /// the tables of that time.
  func replace(_ old: EngineRun) {
    let session = context.makeSession(restoring: old.session.state.essence, by: old.history)
    let stored = old.state.withLock { $0.storedHistory }
    let run = EngineRun(session, by: old.history, storedHistory: stored, control: self)
    let isReplaced = state.withLock { state in
      guard state.run === old else { return false }
      state.run = run
      return true
    }
    guard isReplaced else { return }
    old.end()
    // Behind it the database may be locked, which is waited for.
    run.perform { (run) throws(SyncEngineError) in
      run.start(fetching: try run.control.firstFetch(of: run))
    }
  }

  /// What a run fetches first, once what may have changed since the last one is taken.
  private func firstFetch(of run: EngineRun) throws(SyncEngineError) -> FetchOperation {
    try transaction(for: .run(run)) { (transaction) throws(SQLiteError) in
      try transaction.cloud.adoptForeignRecords()
      try TombstonePurge(transaction: transaction).adoptTombstones()
      guard let token = try transaction.facts.token() else {
        return FetchOperation(startingOver: true)
      }
      // Should everything be asked for, it follows: where nothing is known of the cloud's history, only a token tells one
      // that was restored from a backup, and what that lacks is not gone.
      return FetchOperation(changeToken: token)
    }
  }

  /// Ends the run that is under way.
  func stop() {
    let run = state.withLock { state -> EngineRun? in
      defer {
        state.run = nil
        state.renewal = nil
        state.isWanted = false
      }
      return state.run
    }
    if let run { noteEnd(of: run) }
    run?.end()
    report()
  }

  /// Lets go of the run when nobody has the engine any more.
  func release() {
    let run = state.withLock { state -> EngineRun? in
      defer { state.run = nil }
      return state.run
    }
    run?.cancelTimers()
  }

  /// Changes the rows in one transaction together with what the next session knows, and goes on if the
  /// engine was running.
  func renew(
    _ renewal: Renewal,
    keepsOwner: Bool,
    owner: AccountIdentity? = nil
  ) throws(SyncEngineError) {
    let turn = RenewalTurn()
    let old = state.withLock { state -> EngineRun? in
      defer {
        state.run = nil
        state.renewal = turn
      }
      return state.run
    }
    old?.end()
    var failure: SyncEngineError?
    do throws(SyncEngineError) {
      let past =
        if let old { old.session.state.essence } else { try context.database.storedEssence() }
      // What was learnt of another zone says nothing of this one.
      let fresh = past.flatMap { past in
        past.zoneID == context.zoneID
          ? past.renewed(owner: keepsOwner ? past.accountOwner : owner) : nil
      }
      try transaction(for: .renewal(turn)) { (transaction) throws(SQLiteError) in
        try RowReset(transaction: transaction).renew(renewal)
        try transaction.facts.set(.essence, to: fresh.map { .blob([UInt8]($0.data)) })
      }
    } catch { failure = error }
    // Somebody else may have begun anew, or stopped, meanwhile.
    if state.withLock({ $0.isWanted && $0.renewal === turn }) {
      do throws(SyncEngineError) { try begin() } catch { failure = failure ?? error }
    }
    report()
    if let failure { throw failure }
  }
}

/// Stands for what one renewal does between two runs.
final class RenewalTurn: Sendable {}

/// Somebody who waits for something, and is told once how it has ended.
final class SyncWaiter<Outcome: Sendable>: Sendable {
  private let completion: Locked<(@Sendable (Outcome) -> Void)?>
  private let timer = Locked<(any SyncTimer)?>(nil)

  init(_ completion: @escaping @Sendable (Outcome) -> Void) {
    self.completion = Locked(completion)
  }

  func keep(_ timer: any SyncTimer) { self.timer.withLock { $0 = timer } }

  func end(_ outcome: Outcome) {
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
