public import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Finds out what an engine would do, and does nothing.
  ///
  /// Changes are fetched from the cloud, then everything is done in a transaction that is undone. The
  /// database may be one on which no engine was ever set up. Nothing is sent.
  ///
  /// - Parameters:
  ///   - database: The database, as for making an engine; nothing in it changes.
  ///   - tables: The names of the tables to synchronize.
  ///   - zoneID: The zone that has their records.
  ///   - operationHandler: Talks to the cloud; it is asked to fetch only.
  ///   - options: Policies.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  /// - Returns: What would be sent, stored and refused.
  /// - Throws: A ``SyncEngineError`` if the database cannot be used; a `SyncError` if the cloud cannot be
  ///   asked, as it answers: nothing is tried twice.
  public static func dryRun(
    database: some SyncDatabase,
    tables: [String],
    zoneID: ZoneID,
    operationHandler: any OperationHandler,
    options: SyncEngineOptions = SyncEngineOptions(),
    environment: SyncEnvironment = .live
  ) async throws -> SyncPreview {
    try await withCheckedThrowingContinuation { continuation in
      dryRun(
        database: database,
        tables: tables,
        zoneID: zoneID,
        operationHandler: operationHandler,
        options: options,
        environment: environment
      ) { continuation.resume(with: $0) }
    }
  }

  /// Finds out what an engine would do, and does nothing; the result is given to a function.
  ///
  /// - Parameters:
  ///   - database: The database, as for making an engine; nothing in it changes.
  ///   - tables: The names of the tables to synchronize.
  ///   - zoneID: The zone that has their records.
  ///   - operationHandler: Talks to the cloud; it is asked to fetch only.
  ///   - options: Policies.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  ///   - completion: Called once, on any thread, perhaps before this call returns.
  public static func dryRun(
    database: some SyncDatabase,
    tables: [String],
    zoneID: ZoneID,
    operationHandler: any OperationHandler,
    options: SyncEngineOptions = SyncEngineOptions(),
    environment: SyncEnvironment = .live,
    completion: @escaping @Sendable (Result<SyncPreview, any Error>) -> Void
  ) {
    let begun: SyncPreview
    let archive: SyncArchive?
    do throws(SyncEngineError) {
      begun = SyncPreview(violations: try check(database, tables: tables, options: options))
      if begun.isForbidden { return completion(.success(begun)) }
      archive = try storedArchive(in: database)
    } catch { return completion(.failure(error)) }
    PreviewFetching(operationHandler, after: archive?.state, environment) { fetched in
      do {
        var preview = begun
        let fetched = try fetched.get()
        preview.hasZone = fetched.hasZone
        let limits = operationHandler.limits
        preview = try rehearse(on: database, tables, zoneID, options) {
          [preview] (work) throws(SQLiteError) in
          try PreviewWork(work: work, limits: limits).run(fetched.pages, preview)
        }
        completion(.success(preview))
      } catch { completion(.failure(error)) }
    }
    .run()
  }

  /// Prepares a database for an engine, runs a body, and undoes all of it.
  private static func rehearse(
    on database: some SyncDatabase,
    _ tables: [String],
    _ zoneID: ZoneID,
    _ options: SyncEngineOptions,
    _ body: @Sendable (EngineWork) throws(SQLiteError) -> SyncPreview
  ) throws(SyncEngineError) -> SyncPreview {
    try write(to: database) { (connection) throws(SyncEngineError) in
      try MetadataAttachment.attachKnown(to: connection)
      let attachment = try MetadataAttachment.known(to: connection)
      return try connection.undoing { () throws(SyncEngineError) in
        let setup = EngineSetup(
          connection: connection,
          options: options,
          zoneID: zoneID,
          nonce: { 0 },
          attachment: attachment
        )
        let tables = try setup.prepare(tables)
        return try sqlite { () throws(SQLiteError) in
          try body(
            EngineWork(connection: connection, tables: tables, options: options, zoneID: zoneID)
          )
        }
      }
    }
  }

  /// Finds out what this engine, which must be stopped, would do if it were started, and does nothing.
  ///
  /// - Returns: What would be sent, stored and refused.
  /// - Throws: As the function that needs no engine does.
  public func dryRun() async throws -> SyncPreview {
    precondition(!isRunning, "dryRun() must not be called while the engine runs: stop it first.")
    return try await Self.dryRun(
      database: database,
      tables: tables.inOrder.map(\.name),
      zoneID: zoneID,
      operationHandler: handler,
      options: options,
      environment: environment
    )
  }
}

extension SyncEngine {
  /// The zone that a database was synchronized with, and where its next fetch begins; nil if it was with
  /// none.
  package static func place(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> (zoneID: ZoneID, token: ChangeToken?)? {
    try storedArchive(in: database).map { ($0.state.zoneID, $0.state.fetch.lastToken) }
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
