import CloudSyncCore
import CloudSyncSQLiteSupport

/// A transaction of an engine's that is undone, on a database that is prepared for one within it.
struct Rehearsal: Sendable {
  let tables: [String]
  let zoneID: ZoneID
  let options: SyncEngineOptions
  let environment: SyncEnvironment
  /// The cloud that the rows are attached to, so that what is known of the former one is forgotten first; nil for none.
  var attached: AttachedCloud?

  init(
    tables: [String],
    zoneID: ZoneID,
    options: SyncEngineOptions,
    _ environment: SyncEnvironment
  ) {
    self.tables = tables
    self.zoneID = zoneID
    self.options = options
    self.environment = environment
  }

  /// Runs a body, and undoes all of it.
  func run<Value: Sendable>(
    on database: some SyncDatabase,
    _ body: @Sendable (SyncTransaction) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try UUIDFunction.install(on: connection, environment: environment)
      }
      return try connection.undoing { () throws(SyncEngineError) in
        let nonce = environment.nonce
        let prepared = try EngineSetup(connection: connection, options: options, nonce: nonce)
          .prepare(tables)
        return try sqlite { () throws(SQLiteError) in
          let transaction = SyncTransaction(
            connection: connection,
            tables: prepared.tables,
            now: environment.now().nanoseconds / 1_000_000
          ) { Int64(bitPattern: nonce()) }
          if let attached { try RowReset(transaction: transaction).renew(attached.renewal) }
          return try body(transaction)
        }
      }
    }
  }
}

extension SyncTransaction {
  /// Where an engine would begin to fetch; nil for everything.
  func firstToken() throws(SQLiteError) -> ChangeToken? {
    try facts.value(.fetchAll) == nil ? facts.token() : nil
  }
}

extension SQLiteConnection {
  /// Runs a body in a transaction, and undoes all of it.
  fileprivate func undoing<Value>(
    _ body: () throws(SyncEngineError) -> Value
  ) throws(SyncEngineError) -> Value {
    try sqlite { () throws(SQLiteError) in try execute("BEGIN IMMEDIATE") }
    let result: Result<Value, SyncEngineError>
    do throws(SyncEngineError) { result = .success(try body()) } catch { result = .failure(error) }
    // Where SQLite has undone everything by itself there is nothing to undo.
    if isInTransaction { try sqlite { () throws(SQLiteError) in try execute("ROLLBACK") } }
    return try result.get()
  }
}
