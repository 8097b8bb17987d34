import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Runs a body in a transaction, after what was captured and what the session has learnt, and does what
  /// follows for the rows.
  ///
  /// The generation is the run that it is done for; nil if it is no matter.
  func transaction<Value: Sendable>(
    _ generation: Int? = nil,
    _ body: @Sendable (SyncTransaction) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    let (value, group) = try database.use {
      [self] (connection) throws(SyncEngineError) -> (Value, CloudGroup) in
      // Looked up here, where nobody else can write.
      let (present, essence, group) = state.withLock { ($0.generation, $0.essence, $0.group) }
      guard generation ?? present == present else {
        throw SyncEngineError(
          .superseded,
          "the engine was started, stopped or renewed meanwhile; call again"
        )
      }
      try checkSchema(connection)
      let now = environment.now().nanoseconds / 1_000_000
      let nonce = environment.nonce
      let (value, done) = try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let transaction = SyncTransaction(connection: connection, tables: tables, now: now) {
            Int64(bitPattern: nonce())
          }
          // Another engine may have taken another number for this database.
          transaction.tables.writer = try transaction.facts.integer(.writer) ?? tables.writer
          if case .purge(let age) = options.tombstones {
            transaction.purgeAge = age.clampedNanoseconds / 1_000_000
          }
          if let essence { try transaction.facts.set(.essence, .blob(essence)) }
          try transaction.readOutbox()
          try transaction.store(group)
          let value = try body(transaction)
          try transaction.finish()
          let version = try CaptureCheck(connection: connection).schemaVersion()
          let absences = try transaction.absences()
          return (value, Done(transaction, schemaVersion: version, absences: absences))
        }
      }
      state.withLock { state in
        state.counts += done.counts
        state.schemaVersion = done.schemaVersion
        state.isFetchDue = state.isFetchDue || done.needsFetch
        state.absences = done.absences
        guard state.generation == present else { return }
        state.nextFetch = done.nextFetch ?? state.nextFetch
        if state.essence == essence { state.essence = nil }
        state.group.remove(group)
      }
      return (value, group)
    }
    note(group)
    return value
  }

  /// Looks whether a table was rebuilt since the last transaction: then edits of it are not captured, and what comes
  /// from the cloud would be written over them.
  private func checkSchema(_ connection: SQLiteConnection) throws(SyncEngineError) {
    guard let last = state.withLock({ $0.schemaVersion }) else { return }
    let names = tables.inOrder.map(\.name)
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

  /// What a transaction has come to.
  private struct Done: Sendable {
    let counts: SyncCounts
    let needsFetch: Bool
    let schemaVersion: Int64
    let absences: Int64
    let nextFetch: FetchOperation?

    init(_ transaction: SyncTransaction, schemaVersion: Int64, absences: Int64) {
      self.schemaVersion = schemaVersion
      self.absences = absences
      nextFetch = transaction.nextFetch
      counts = transaction.counts
      needsFetch = transaction.needsFetch
    }
  }
}
