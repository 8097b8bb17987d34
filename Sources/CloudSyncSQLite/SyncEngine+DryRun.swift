public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    dryRun(
      database: database,
      tables: tables,
      zoneID: zoneID,
      operationHandler: operationHandler,
      options: options,
      environment: environment,
      attachedTo: nil,
      completion: completion
    )
  }

  /// Finds out what an engine would do, perhaps one whose rows are attached to another cloud.
  package static func dryRun(
    database: some SyncDatabase,
    tables: [String],
    zoneID: ZoneID,
    operationHandler: any OperationHandler,
    options: SyncEngineOptions = SyncEngineOptions(),
    environment: SyncEnvironment = .live,
    attachedTo attached: AttachedCloud?,
    completion: @escaping @Sendable (Result<SyncPreview, any Error>) -> Void
  ) {
    let assets = options.assets.map { AssetFolder(options: $0) }
    let handler = assets?.resolving(operationHandler) ?? operationHandler
    var rehearsal = Rehearsal(tables: tables, zoneID: zoneID, options: options, environment)
    rehearsal.attached = attached
    let begun: SyncPreview
    let token: ChangeToken?
    let history: [ChangeToken]
    do throws(SyncEngineError) {
      begun = SyncPreview(violations: try check(database, tables: tables, options: options))
      if begun.isForbidden { return completion(.success(begun)) }
      // What of the schema is new may want everything fetched.
      token = try rehearsal.run(on: database) { (transaction) throws(SQLiteError) in
        try transaction.firstToken()
      }
      history = attached == nil ? try database.storedHistory() : []
    } catch { return completion(.failure(error)) }
    SessionlessFetch(handler, after: token, showing: history, environment) {
      [rehearsal] fetched in
      do {
        let fetched = try fetched.get()
        let preview = try rehearsal.run(on: database) { (transaction) throws(SQLiteError) in
          var work = PreviewWork(transaction, zoneID: zoneID, begun)
          return try work.run(fetched)
        }
        completion(.success(preview))
      } catch { completion(.failure(error)) }
    }
    .run()
  }

  /// Finds out what this engine, which must be stopped, would do if it were started, and does nothing.
  ///
  /// - Returns: What would be sent, stored and refused.
  /// - Throws: As the function that needs no engine does.
  public func dryRun() async throws -> SyncPreview {
    precondition(!isRunning, "dryRun() must not be called while the engine runs: stop it first.")
    return try await Self.dryRun(
      database: context.database,
      tables: context.tableNames,
      zoneID: context.zoneID,
      operationHandler: context.handler,
      options: context.options,
      environment: context.environment
    )
  }
}

extension SyncEngine {
  /// The zone that a database was synchronized with, whose rows they are, and where its next fetch begins; nil if
  /// it was with none.
  package static func place(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> SyncPlace? {
    guard let essence = try database.storedEssence() else { return nil }
    let token = try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in try Facts(connection: connection).token() }
    }
    return SyncPlace(
      zoneID: essence.zoneID,
      owner: essence.accountOwner,
      token: token,
      historyTokens: try database.storedHistory()
    )
  }
}

/// What a database was synchronized with.
package struct SyncPlace: Sendable {
  package let zoneID: ZoneID
  /// The account; nil if there was but a nameless one.
  package let owner: AccountIdentity?
  /// Where the next fetch begins; nil for all from the beginning.
  package let token: ChangeToken?
  /// How far the cloud's history had come with all that is stored.
  package let historyTokens: [ChangeToken]

  package init(
    zoneID: ZoneID,
    owner: AccountIdentity?,
    token: ChangeToken?,
    historyTokens: [ChangeToken]
  ) {
    self.zoneID = zoneID
    self.owner = owner
    self.token = token
    self.historyTokens = historyTokens
  }
}
