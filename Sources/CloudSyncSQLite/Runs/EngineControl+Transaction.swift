import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineControl {
  /// For whom something is done; if that is over, it is not done any more.
  enum Turn: Sendable {
    case anybody
    case run(EngineRun)
    case renewal(RenewalTurn)
  }

  /// Runs a body in a transaction, after what was captured and what the session has learnt, and does what
  /// follows for the rows.
  func transaction<Value: Sendable>(
    for turn: Turn = .anybody,
    _ body: @Sendable (SyncTransaction) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    let context = context
    let (value, run, group) = try context.database.use {
      [self] (connection) throws(SyncEngineError) -> (Value, EngineRun?, CloudGroup) in
      // Looked up here, where nobody else can write.
      let run = try present(turn)
      let (essence, group) = run?.state.withLock { ($0.essence, $0.group) } ?? (nil, CloudGroup())
      try checkSchema(connection)
      let (value, done) = try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let transaction = try makeTransaction(on: connection)
          if let essence { try transaction.facts.set(.essence, to: .blob(essence)) }
          try transaction.readOutbox()
          try transaction.store(group)
          let value = try body(transaction)
          try transaction.finish()
          return (value, try TransactionOutcome(transaction))
        }
      }
      state.withLock { state in
        state.counts += done.counts
        state.schemaVersion = done.schemaVersion
        state.absences = done.absences
      }
      run?.noteStored(group, essence: essence, outcome: done)
      return (value, run, group)
    }
    run?.follow(group)
    return value
  }

  /// The run that is under way, if it is somebody's turn.
  private func present(_ turn: Turn) throws(SyncEngineError) -> EngineRun? {
    let (run, isPresent) = state.withLock { state in
      let isPresent =
        switch turn {
        case .anybody: true
        case .run(let run): state.run === run
        case .renewal(let renewal): state.renewal === renewal
        }
      return (state.run, isPresent)
    }
    guard isPresent else {
      throw SyncEngineError(
        .superseded,
        "the engine was started, stopped or renewed meanwhile; call again"
      )
    }
    return run
  }

  private func makeTransaction(
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> SyncTransaction {
    let nonce = context.environment.nonce
    let now = context.environment.now().nanoseconds / 1_000_000
    let transaction = SyncTransaction(connection: connection, tables: context.tables, now: now) {
      Int64(bitPattern: nonce())
    }
    // Another engine may have taken another number for this database.
    transaction.tables.writer =
      try transaction.facts.integer(.writer) ?? transaction.tables.writer
    if case .purge(let age) = context.options.tombstones {
      transaction.purgeAge = age.clampedNanoseconds / 1_000_000
    }
    return transaction
  }

  /// Looks whether a table was rebuilt since the last transaction: then edits of it are not captured, and what comes
  /// from the cloud would be written over them.
  private func checkSchema(_ connection: SQLiteConnection) throws(SyncEngineError) {
    guard let last = state.withLock({ $0.schemaVersion }) else { return }
    let names = context.tables.inOrder.map(\.name)
    let broken = try sqlite { () throws(SQLiteError) -> String? in
      let check = CaptureCheck(connection: connection)
      if try check.schemaVersion() == last { return nil }
      return try check.findings(of: names, in: try DatabaseSchema.read(connection))
        .first { $0.finding == .rebuilt || $0.finding == .missing }?
        .table
    }
    guard let broken else { return }
    throw SyncEngineError(
      .schema,
      "table \(broken) was rebuilt, dropped or renamed while the engine runs; make the engine anew:"
        + " what was edited meanwhile is found then, and sent"
    )
  }
}

/// What a transaction has come to.
struct TransactionOutcome: Sendable {
  let counts: SyncCounts
  let needsFetch: Bool
  let schemaVersion: Int64
  let absences: Int64
  let nextFetch: FetchOperation?

  init(_ transaction: SyncTransaction) throws(SQLiteError) {
    schemaVersion = try CaptureCheck(connection: transaction.connection).schemaVersion()
    absences = try transaction.absences()
    nextFetch = transaction.nextFetch
    counts = transaction.counts
    needsFetch = transaction.needsFetch
  }
}
