public import CloudSyncCore
public import CloudSyncSQLite

extension ChangesetRemote {
  /// Runs a body, and if it needs changes that were removed from this copy, once more with them.
  func fetchingWhatWasRemoved<Value: Sendable>(
    _ body: () throws(ChangesetError) -> Value
  ) async throws(ChangesetError) -> Value {
    do throws(ChangesetError) { return try body() } catch {
      guard error.code == .historyTooShort else { throw error }
    }
    try resetLastChangeToken()
    _ = try await fetch()
    try repository.beginWhereRowsTell()
    return try body()
  }

  /// Fetches what the zone holds, deletes it, and sends all commits again.
  ///
  /// Records that hold what is not in this history stay: such as others' commits that cannot be read here, or
  /// wait for one before them. After a failure the next push goes on with it. The other copies hear of the deletion, fetch
  /// the zone anew, and send what it lacks.
  ///
  /// - Throws: Why the cloud did not do it.
  public func reset() async throws(ChangesetError) {
    try await accounts.begin()
    calls.end(trouble: .zone)
    session.decideZone(.recreate)
    try resetLastChangeToken()
    _ = try await fetch()
    let names = pages.storedRecords()
    // Were it noted afterwards, nobody would send again what a process deletes that ends between.
    pages.forgetCloud()
    try await Pushing(remote: self).delete(names: names)
    try await push()
  }

  /// Gives the history to the account that is signed in now: all of its commits go there.
  ///
  /// The other account's cloud keeps what it has.
  ///
  /// - Throws: That no other account has signed in.
  public func adopt() throws(ChangesetError) { try accounts.adopt() }

  /// Has the next fetch bring everything that the zone holds.
  ///
  /// - Throws: What is wrong with the database.
  public func resetLastChangeToken() throws(ChangesetError) {
    try RemoteState.forgetToken(in: repository)
  }

  /// Fetches everything that a zone holds into a history whose tables were changed without it, which no repository opens:
  /// then ``ChangesetRepository/rescan(_:tables:renamed:options:)`` has the changes that
  /// ``ChangesetRepository/gc(depth:includingUnsent:)`` has removed.
  ///
  /// - Parameters:
  ///   - database: The database, which has a history.
  ///   - handler: The cloud.
  ///   - zoneID: The zone.
  ///   - assets: Where files are on their way.
  ///   - accountProvider: Who is signed in.
  ///   - options: What this copy is called.
  ///   - environment: Clock, threads and timer.
  /// - Returns: The commits that are new.
  /// - Throws: That the database has no history, or one of another zone, or what the cloud says.
  @discardableResult
  public static func fetchEverything(
    into database: some SyncDatabase,
    from handler: any OperationHandler,
    zoneID: ZoneID,
    assets: AssetOptions? = nil,
    accountProvider: AccountStatusProvider? = nil,
    options: ChangesetOptions = ChangesetOptions(),
    environment: SyncEnvironment = .live
  ) async throws(ChangesetError) -> [Changeset] {
    let remote = try ChangesetRemote(
      ChangesetRepository(commitsOf: database, options: options),
      operationHandler: handler,
      zoneID: zoneID,
      assets: assets,
      accountProvider: accountProvider,
      environment: environment
    )
    defer { remote.session.stop() }
    try remote.resetLastChangeToken()
    return try await remote.fetch()
  }
}
