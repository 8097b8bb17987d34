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
    let done = try context.database.use {
      [self] (connection) throws(SyncEngineError) -> Transacted<Value> in
      // Looked up here, where nobody else can write.
      let run = try present(turn)
      let (essence, group) = run?.state.withLock { ($0.essence, $0.group) } ?? (nil, CloudGroup())
      if try followSchema(on: connection), let run { return .outdated(run) }
      let rolledBack = RolledBackWrites()
      let (value, done) = try sqlite { () throws(SQLiteError) in
        try rolledBack.transaction(on: connection) { () throws(SQLiteError) in
          try checkSchema(on: connection)
          let transaction = try makeTransaction(on: connection)
          transaction.retouched.rolledBack = rolledBack
          if let essence { try transaction.facts.set(.essence, to: .blob(essence)) }
          let history = try run?.storeHistory(in: transaction)
          try transaction.readOutbox()
          try RowFiltering(transaction: transaction).takeOver()
          try transaction.store(group)
          let value = try body(transaction)
          try transaction.finish()
          try transaction.noteEchoes()
          // What has come may have raised a table's count into the range of another device.
          try IntegerKeyRanges(connection: connection, writer: transaction.tables.writer)
            .settle(context.options.countedTables(of: transaction.tables))
          var outcome = try TransactionOutcome(transaction)
          outcome.history = history ?? []
          return (value, outcome)
        }
      }
      state.withLock { state in
        state.counts += done.counts
        state.absences = done.absences
        state.learnsKinds = state.learnsKinds || done.learnsKinds
      }
      run?.noteStored(group, essence: essence, outcome: done)
      if let changes = done.changes { self.changes.append(changes) }
      if !done.united.isEmpty { unitedRows.append(done.united) }
      return .done(value, run, group)
    }
    switch done {
    case .done(let value, let run, let group):
      changes.publish()
      unitedRows.publish()
      run?.follow(group)
      return value
    case .outdated(let run):
      replace(run)
      guard case .anybody = turn else { throw Self.superseded }
      return try transaction(for: turn, body)
    }
  }

  private enum Transacted<Value: Sendable>: Sendable {
    case done(Value, EngineRun?, CloudGroup)
    /// The tables were read anew: the run is over.
    case outdated(EngineRun)
  }

  private static var superseded: SyncEngineError {
    SyncEngineError(
      .superseded,
      "the engine was started, stopped or renewed, or its tables were changed, meanwhile; call again"
    )
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
    guard isPresent else { throw Self.superseded }
    return run
  }

  private func makeTransaction(
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> SyncTransaction {
    let nonce = context.environment.nonce
    let now = context.environment.now().nanoseconds / 1_000_000
    let transaction = SyncTransaction(connection: connection, tables: tables, now: now) {
      Int64(bitPattern: nonce())
    }
    // Another engine may have taken another number for this database.
    transaction.tables.writer =
      try transaction.facts.integer(.writer) ?? transaction.tables.writer
    if changes.isWanted { transaction.changed = ChangedRows() }
    if case .purge(let age) = context.options.tombstones {
      transaction.purgeAge = age.clampedNanoseconds / 1_000_000
    }
    return transaction
  }

  // MARK: The schema

  /// Reads the tables anew if they have changed, for a call that names one of them.
  func refreshTables() throws(SyncEngineError) -> SyncTables {
    let isChanged = try context.database.use { (connection) throws(SyncEngineError) in
      try followSchema(on: connection)
    }
    if isChanged, let run { replace(run) }
    return tables
  }

  /// Reads the tables anew if somebody has changed them: a migration of the app's, or another engine; or if a record has
  /// shown why the cloud refuses their rows.
  ///
  /// - Parameter connection: The connection, in no transaction.
  /// - Returns: Whether they are other ones now: then a run that is under way is over.
  /// - Throws: That the schema stands in the way, or the database cannot be written.
  func followSchema(on connection: SQLiteConnection) throws(SyncEngineError) -> Bool {
    let (tables, known, learnsKinds) = state.withLock {
      ($0.tables, $0.schemaVersion, $0.learnsKinds)
    }
    let (version, isSame, other) = try sqlite { () throws(SQLiteError) -> (Int64, Bool, String?) in
      let check = CaptureCheck(connection: connection)
      // It is read first: whatever changes after that is seen the next time.
      let version = try check.schemaVersion()
      if learnsKinds { return (version, false, nil) }
      if version == known { return (version, true, nil) }
      let schema = context.options.synchronized(try DatabaseSchema.read(connection))
      let captured = tables.inOrder.map(\.captured)
      if try check.isInPlace(captured, in: schema) { return (version, true, nil) }
      return (version, false, try check.tableOfOtherEngine(among: captured, in: schema))
    }
    if let other, try mayCaptureAgain(on: connection) == false {
      // Whichever captures its own columns again, the other one would have to do the same, and so on for ever.
      throw SyncEngineError(
        .schema,
        "another engine on the database synchronizes other columns of table \(other.quotedName);"
          + " give both the same local columns"
      )
    }
    if isSame {
      if version != known { state.withLock { $0.schemaVersion = version } }
      return false
    }
    let prepared = try context.prepareTables(on: connection)
    state.withLock { state in
      state.tables = prepared.tables
      state.schemaVersion = prepared.schemaVersion
      state.learnsKinds = false
    }
    return true
  }

  /// Whether this engine captures its own columns again where another one has captured others: the one that was started last
  /// does, and a former one a few times, as the other may have ended.
  private func mayCaptureAgain(on connection: SQLiteConnection) throws(SyncEngineError) -> Bool {
    let last = try sqlite { () throws(SQLiteError) in
      try Facts(connection: connection).integer(.starts) ?? 0
    }
    return state.withLock { state in
      guard let start = state.start, last > start else { return true }
      state.takeovers += 1
      return state.takeovers <= 3
    }
  }

  /// Looks, now that nobody else can write, whether the tables are still those that were looked at before.
  private func checkSchema(on connection: SQLiteConnection) throws(SQLiteError) {
    let known = state.withLock { $0.schemaVersion }
    if try CaptureCheck(connection: connection).schemaVersion() == known { return }
    throw SQLiteError(
      code: 5,  // SQLITE_BUSY: it passes
      message: "the schema of the database is just being changed; try again"
    )
  }
}

/// What a transaction has come to.
struct TransactionOutcome: Sendable {
  let counts: SyncCounts
  let needsFetch: Bool
  /// Whether the tables are to be read anew, since fields of theirs are of another kind than was thought.
  let learnsKinds: Bool
  let absences: Int64
  let nextFetch: FetchOperation?
  let changes: RowChanges?
  /// The rows that have become one with others.
  let united: [UnitedRow]
  /// How far the cloud's history had come with all that is stored now.
  var history: [ChangeToken] = []

  init(_ transaction: SyncTransaction) throws(SQLiteError) {
    absences = try transaction.absences()
    nextFetch = transaction.nextFetch
    counts = transaction.counts
    changes = transaction.changed?.changes
    united = transaction.united
    needsFetch = transaction.needsFetch
    let areExplained = try InvalidRows(transaction: transaction).areExplained()
    learnsKinds = transaction.hasOtherKinds || areExplained
  }
}
