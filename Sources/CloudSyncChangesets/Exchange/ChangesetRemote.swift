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
/// A zone holds one history, and nothing else. No commit in it is ever changed: a lost response, a repeated
/// request, another replica that sends the same make no difference. Edits go on meanwhile; the remote
/// needs the database for a moment now and then.
public final class ChangesetRemote: Sendable {
  let repository: ChangesetRepository
  /// What talks to the cloud; give it an account provider, or look at its state.
  public let session: CloudSyncSession
  let zoneID: ZoneID
  let assets: AssetFolder?
  let calls: RemoteCalls
  let pages: PageTaker
  let accounts: AccountWatch
  let history: RemoteHistory
  private let subscriptions: [SyncSubscription]

  /// Connects a history with a zone.
  ///
  /// - Parameters:
  ///   - repository: The history.
  ///   - operationHandler: The cloud.
  ///   - zoneID: The zone, which is created if it is missing; always the same for one database.
  ///   - assets: Where files are on their way; commits and snapshots over 650 kB need it.
  ///   - accountProvider: Who is signed in. The history belongs to the first account that it names, and
  ///     nothing of it goes to another one until ``adopt()`` says so; without a provider whoever is signed in
  ///     counts as that account.
  ///   - environment: Clock, threads and timer.
  /// - Throws: That the history belongs to another zone.
  public init(
    _ repository: ChangesetRepository,
    operationHandler: any OperationHandler,
    zoneID: ZoneID,
    assets: AssetOptions? = nil,
    accountProvider: AccountStatusProvider? = nil,
    environment: SyncEnvironment = .live
  ) throws(ChangesetError) {
    self.repository = repository
    self.zoneID = zoneID
    let folder = assets.map { AssetFolder(options: $0) }
    self.assets = folder
    try RemoteState.claim(zoneID: zoneID, in: repository)
    let history = try RemoteHistory(
      folder?.resolving(operationHandler) ?? operationHandler,
      in: repository
    )
    self.history = history
    let session = Self.session(
      handler: history.handler,
      essence: try RemoteState.nextEssence(zoneID: zoneID, in: repository),
      environment: environment
    )
    self.session = session
    let calls = RemoteCalls { [weak session] in session?.cancel($0) }
    self.calls = calls
    let accounts = AccountWatch(
      session: session,
      repository: repository,
      calls: calls,
      provider: accountProvider
    )
    self.accounts = accounts
    let pages = PageTaker(
      repository: repository,
      assets: folder,
      calls: calls,
      history: history
    )
    self.pages = pages
    let waits = KeptWait(in: repository, from: session.state.essence)
    subscriptions = [
      session.statePublisher.sink { state in waits.keep(state.essence) },
      session.fetchWorkCompletedSubject.sink { [weak session] operation, page in
        guard let session else { return }
        let isStored = operation.isLookup ? pages.takeLookup(page) : pages.take(page)
        session.acknowledge(page.page, isStored ? .stored : .notNow)
      },
      // A subscription lasts as long as the session: what it holds must not hold the session.
      session.haltedSubject.sink { [weak accounts] error in
        if let error { accounts?.fail(error: ChangesetError(error), trouble: .halt) }
      },
      session.zoneSubject.sink { zone in
        switch zone {
        case .creating(_?):
          calls.end(trouble: .zone)
          pages.forgetCloud()
        case .lost:
          pages.forgetCloud()
          calls.begin(
            trouble: .zone,
            error: .lostZone
          )
        case .unknown, .creating(nil), .ready, .refused: calls.end(trouble: .zone)
        }
      },
    ]
  }

  private static func session(
    handler: any OperationHandler,
    essence: SyncEssence,
    environment: SyncEnvironment
  ) -> CloudSyncSession {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    configuration.refusedItems = .handBack
    return CloudSyncSession(
      restoring: essence,
      operationHandler: handler,
      configuration: configuration,
      resolver: ConflictResolver { client, server in
        // Of one name there is one content, unless it was damaged on the way or in the cloud; but what a replica tells
        // of itself is always the newer.
        if client.recordType == ReplicaReport.recordType || PackRecord.isDamaged(server) {
          client
        } else {
          server
        }
      },
      environment: environment
    )
  }

  /// Begins to talk to the cloud; the other calls do it too.
  ///
  /// - Throws: That nobody is signed in, or somebody else than the history belongs to.
  public func setup() async throws(ChangesetError) { try await accounts.begin() }

  /// Talks to the cloud no more, until the next call; calls that wait end with an error.
  public func stop() {
    session.stop()
    accounts.fail(error: ChangesetError(.cloud, "the remote was stopped"), trouble: .halt)
  }

  /// Sends the commits that the cloud has not got.
  ///
  /// - Returns: The commits.
  /// - Throws: Why the cloud did not take them; those that it took are not sent again.
  @discardableResult
  public func push() async throws(ChangesetError) -> [Changeset] {
    try await accounts.begin()
    return try await Pushing(remote: self).push()
  }

  /// Fetches commits of others; ``ChangesetRepository/mergeAll(_:)`` and ``ChangesetRepository/pull()`` bring
  /// rows there.
  ///
  /// - Returns: The commits that are new.
  /// - Throws: Why they could not be fetched; the next fetch goes on where this one ended.
  @discardableResult
  public func fetch() async throws(ChangesetError) -> [Changeset] {
    try await accounts.begin()
    try pages.retryRefused()
    try await fetchPages()
    if try RemoteState.mayLackPacks(in: repository) {
      try RemoteState.forgetToken(in: repository, bringingBack: false)
      try await fetchPages()
    }
    return try pages.takeNew()
  }

  private func fetchPages() async throws(ChangesetError) {
    let token = try RemoteState.token(in: repository)
    let operation = FetchOperation(changeToken: token, startingOver: token == nil)
    _ = try await calls.run { done in self.session.fetch(operation, completion: done) }
    try await fetchMissing()
    try pages.settleHorizon()
  }

  /// Asks by name for records that no page could bring: the token is behind them.
  private func fetchMissing() async throws(ChangesetError) {
    let names = try pages.missingRecords()
    let limit = min(100, session.state.configuration.limits?.items ?? 100)
    for start in stride(from: 0, to: names.count, by: limit) {
      let ids = names[start..<min(start + limit, names.count)]
        .map { RecordID(name: $0, zoneID: zoneID) }
      let operation = FetchOperation(lookingUp: ids)
      do throws(ChangesetError) {
        _ = try await calls.run { done in self.session.fetch(operation, completion: done) }
      } catch {
        // What was fetched is stored; they are asked for again the next time.
        guard error.code == .cloud else { throw error }
        return
      }
    }
  }

  /// Commits, fetches, merges, pulls and pushes.
  ///
  /// While an older commit is checked out nothing is committed, and rows stay; were any changed, that is thrown once
  /// all else is done. They stay too where others' commits have a schema that this app lacks: what was committed here
  /// is sent first, then that is thrown. Where such commits are a head of their own, beside this app's, they wait, and
  /// nothing is thrown.
  ///
  /// Where commits of this copy go on from before a squash of the history, the error is
  /// ``ChangesetError/Code/behindHorizon``, and ``rebase()`` helps.
  ///
  /// - Parameter meta: What is said of the commit, at most 65,536 bytes.
  /// - Returns: What was done.
  /// - Throws: What is wrong with the database, or why the cloud could not be reached; also
  ///   ``ChangesetError/Code/accountChanged`` until ``adopt()``, ``ChangesetError/Code/needsUpgrade`` and
  ///   ``ChangesetError/Code/behindHorizon``.
  @discardableResult
  public func sync(meta: String = "{}") async throws(ChangesetError) -> SyncSummary {
    let isDetached = try repository.head().isDetached
    if !isDetached { try repository.commit(meta: meta) }
    let received = try await fetch()
    let merges = try await fetchingWhatWasRemoved { () throws(ChangesetError) in
      try repository.mergeAll()
    }
    let settled = try repository.conflictCount(of: merges)
    var obstacle: ChangesetError?
    do throws(ChangesetError) {
      try await fetchingWhatWasRemoved { () throws(ChangesetError) in try repository.catchUp() }
      if !isDetached, try repository.isClean(), try repository.standing() == .current {
        _ = try await fetchingWhatWasRemoved { () throws(ChangesetError) in try repository.pull() }
      }
    } catch {
      // Rows stay where they are; what was committed here goes to the others all the same.
      guard [.needsUpgrade, .unmerged, .uncommittedChanges].contains(error.code) else {
        throw error
      }
      // Somebody has edited since they were looked at: the next sync commits it.
      if error.code != .uncommittedChanges { obstacle = error }
    }
    if isDetached, try repository.isClean() == false {
      obstacle = .onOlderCommit
    }
    let sent = try await push()
    if let obstacle { throw obstacle }
    return SyncSummary(
      sent: sent.count,
      received: received.count,
      merges: merges.count,
      conflicts: settled,
      head: try repository.head()
    )
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
