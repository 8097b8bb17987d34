public import CloudSyncCore
public import CloudSyncSQLite

/// The cloud's side of a history: commits go there in packs, and others' come from it.
///
/// ```swift
/// let remote = try ChangesetRemote(
///   repository, operationHandler: handler, zoneID: ZoneID(name: "History"))
/// let summary = try await remote.sync()
/// ```
///
/// A zone holds one history, and nothing else. Nothing in it is ever changed: a lost response, a repeated
/// request, another replica that sends the same make no difference. Edits go on meanwhile; the remote
/// needs the database for a moment now and then.
public final class ChangesetRemote: Sendable {
  let repository: ChangesetRepository
  /// What talks to the cloud; give it an account provider, or look at its state.
  public let session: CloudSyncSession
  let zoneID: ZoneID
  let assets: AssetFolder?
  let calls: RemoteCalls
  private let pages: PageTaker
  private let subscriptions: [SyncSubscription]

  /// Connects a history with a zone.
  ///
  /// - Parameters:
  ///   - repository: The history.
  ///   - operationHandler: The cloud.
  ///   - zoneID: The zone, which is created if it is missing; always the same for one database.
  ///   - assets: Where files are on their way; commits over 600,000 bytes need it.
  ///   - environment: Clock, threads and timer.
  /// - Throws: That the history belongs to another zone.
  public init(
    _ repository: ChangesetRepository,
    operationHandler: any OperationHandler,
    zoneID: ZoneID,
    assets: AssetOptions? = nil,
    environment: SyncEnvironment = .live
  ) throws(ChangesetError) {
    self.repository = repository
    self.zoneID = zoneID
    let folder = assets.map { AssetFolder(options: $0) }
    self.assets = folder
    try RemoteState.claim(zoneID: zoneID, in: repository)
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    configuration.refusedItems = .handBack
    let session = CloudSyncSession(
      operationHandler: folder?.resolving(operationHandler) ?? operationHandler,
      zoneID: zoneID,
      configuration: configuration,
      // Of one name there is one content.
      resolver: ConflictResolver { _, server in server },
      environment: environment
    )
    self.session = session
    let calls = RemoteCalls()
    self.calls = calls
    let pages = PageTaker(repository: repository, assets: folder, calls: calls)
    self.pages = pages
    subscriptions = [
      session.fetchWorkCompletedSubject.sink { [weak session] operation, page in
        guard let session, operation.recordIDs.isEmpty else { return }
        session.acknowledge(page.page, pages.take(page) ? .stored : .notNow)
      },
      session.haltedSubject.sink { error in
        if let error { calls.fail(error: ChangesetError(error)) }
      },
      session.zoneSubject.sink { zone in
        switch zone {
        case .creating(_?): pages.forgetCloud()
        case .lost:
          pages.forgetCloud()
          calls.fail(
            error: ChangesetError(
              .cloud,
              "the zone's data were erased in the cloud; “reset” uploads everything again"
            )
          )
        case .unknown, .creating(nil), .ready, .refused: break
        }
      },
    ]
  }

  /// Begins to talk to the cloud; the other calls do it too.
  public func setup() async throws(ChangesetError) { session.start() }

  /// Sends the commits that the cloud has not got.
  ///
  /// - Returns: The commits.
  /// - Throws: Why the cloud did not take them; those that it took are not sent again.
  @discardableResult
  public func push() async throws(ChangesetError) -> [Changeset] {
    session.start()
    return try await Pushing(remote: self).push()
  }

  /// Fetches commits of others; ``ChangesetRepository/mergeAll(_:)`` and ``ChangesetRepository/pull()`` bring
  /// rows there.
  ///
  /// - Returns: The commits that are new.
  /// - Throws: Why they could not be fetched; the next fetch goes on where this one ended.
  @discardableResult
  public func fetch() async throws(ChangesetError) -> [Changeset] {
    session.start()
    try pages.retryRefused()
    let token = try RemoteState.token(in: repository)
    let operation = FetchOperation(changeToken: token, startingOver: token == nil)
    _ = try await calls.run { done in self.session.fetch(operation, completion: done) }
    return try pages.takeNew()
  }

  /// Commits, fetches, merges, pulls and pushes.
  ///
  /// While an older commit is checked out nothing is committed, and rows stay.
  ///
  /// - Parameter meta: What is said of the commit.
  /// - Returns: What was done.
  /// - Throws: What is wrong with the database, or why the cloud could not be reached.
  @discardableResult
  public func sync(meta: String = "{}") async throws(ChangesetError) -> SyncSummary {
    let isDetached = try repository.head().isDetached
    if !isDetached { try repository.commit(meta: meta) }
    let received = try await fetch()
    let merges = try repository.mergeAll()
    let settled = try repository.conflictCount(of: merges)
    if !isDetached, try repository.status().isClean { try repository.pull() }
    let sent = try await push()
    return SyncSummary(
      sent: sent.count,
      received: received.count,
      merges: merges.count,
      conflicts: settled,
      head: try repository.head()
    )
  }

  /// Deletes what the zone holds, and sends all commits again.
  ///
  /// - Throws: Why the cloud did not do it.
  public func reset() async throws(ChangesetError) {
    session.start()
    session.decideZone(.recreate)
    _ = try await fetch()
    let names = try pages.knownRecords()
    try await Pushing(remote: self).delete(names: names)
    pages.forgetCloud()
    try await push()
  }

  /// Has the next fetch bring everything that the zone holds.
  ///
  /// - Throws: What is wrong with the database.
  public func resetLastChangeToken() throws(ChangesetError) {
    try RemoteState.forgetToken(in: repository)
  }
}

/// What a sync has done.
public struct SyncSummary: Sendable, Hashable {
  /// How many commits were sent.
  public let sent: Int
  /// How many commits came that are new.
  public let received: Int
  /// How many merges were made.
  public let merges: Int
  /// How many rows they have lost something of.
  public let conflicts: Int
  /// Where the rows are now.
  public let head: Head
}
