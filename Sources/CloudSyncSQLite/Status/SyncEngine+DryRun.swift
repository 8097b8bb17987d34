public import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Finds out what an engine would do, and does nothing.
  ///
  /// Changes are fetched from the cloud, then everything is done in a transaction that is undone. The
  /// database may be one on which no engine was ever set up. Nothing is sent.
  ///
  /// - Parameters: As for making an engine.
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
    var preview = SyncPreview(violations: try check(database, tables: tables, options: options))
    if preview.isForbidden { return preview }
    let archive = try storedArchive(in: database)
    var fetching = PreviewFetching(handler: operationHandler, zoneID: zoneID, environment)
    try await fetching.fetch(from: archive?.state)
    preview.hasZone = fetching.hasZone
    let (pages, begun) = (fetching.pages, preview)
    return try write(to: database) { (connection) throws(SyncEngineError) in
      try connection.undoing { () throws(SyncEngineError) in
        let setup = EngineSetup(
          connection: connection,
          options: options,
          zoneID: zoneID,
          nonce: { 0 }
        )
        let tables = try setup.prepare(tables)
        return try sqlite { () throws(SQLiteError) in
          let work = EngineWork(
            connection: connection,
            tables: tables,
            options: options,
            zoneID: zoneID
          )
          let previewing = PreviewWork(work: work, limits: operationHandler.limits)
          return try previewing.run(pages, begun)
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

/// Fetches what is new without a session.
private struct PreviewFetching {
  let handler: any OperationHandler
  let zoneID: ZoneID
  let environment: SyncEnvironment
  var pages: [FetchOperation.Response] = []
  var hasZone = true

  init(handler: any OperationHandler, zoneID: ZoneID, _ environment: SyncEnvironment) {
    self.handler = handler
    self.zoneID = zoneID
    self.environment = environment
  }

  /// Fetches from where the last session stopped.
  mutating func fetch(from state: SyncState?) async throws(SyncError) {
    var token = state?.fetch.lastToken
    var number = state?.fetch.nextPage ?? 1
    var startedOver = token == nil || state?.fetch.isLastCut == true
    // A page may have come that was not stored.
    if let page = state?.fetch.awaited?.response { pages.append(page) }
    while true {
      var page: FetchOperation.Response
      do throws(SyncError) {
        page = try await self.page(after: token, number)
      } catch {
        if [.zoneNotFound, .userDeletedZone].contains(error.code) {
          hasZone = false
          pages = []
          return
        }
        guard error.code == .changeTokenExpired, token != nil else { throw error }
        token = nil
        startedOver = true
        continue
      }
      page.startedOver = page.startedOver || startedOver
      page.isBeginning = token == nil
      page.page = PageID(number: number)
      number += 1
      token = page.changeToken ?? token
      pages.append(page)
      if page.isLast { return }
    }
  }

  private func page(
    after token: ChangeToken?,
    _ number: UInt64
  ) async throws(SyncError) -> FetchOperation.Response {
    let context = RequestContext(
      attempt: Attempt(epoch: 0, number: number),
      writeToken: WriteToken(nonce: 0, number: 0),
      deadline: environment.now().adding(SyncConfiguration().timeout)
    )
    let answer = await withCheckedContinuation { continuation in
      // An answer may be given twice.
      let isAnswered = Locked(false)
      handler.handle(
        fetchOperation: FetchOperation(changeToken: token),
        context: context
      ) { answer in
        let isFirst = isAnswered.withLock { isAnswered in
          defer { isAnswered = true }
          return !isAnswered
        }
        if isFirst { continuation.resume(returning: answer) }
      }
    }
    return try answer.get()
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
