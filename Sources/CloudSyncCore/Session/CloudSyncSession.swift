#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event-sourced sync session: it queues edits and fetches, sends them through a handler one
/// request at a time, and survives everything that a cloud answers.
///
/// The session stores nothing itself. It is embedded under any storage layer: edits go in through
/// ``modify(_:completion:accepted:)``, changes and completions come out through the publishers, and
/// ``snapshot()`` and ``journal(to:)`` give the bytes from which it goes on in another process.
///
/// ```swift
/// let session = CloudSyncSession(operationHandler: handler, zoneID: ZoneID(name: "Notes"))
/// session.fetchWorkCompletedSubject.sink { operation, response in store(response) }
/// session.start()
/// try session.modify(ModifyOperation(records: [record]))
/// ```
///
/// Every call may come from any thread and from inside any callback. Calls are taken in order, on
/// an executor of the session's own; deciding and sending never happen on the caller's thread.
/// The session keeps no strong reference to itself: releasing it ends it.
public final class CloudSyncSession: Sendable {
  // MARK: Publishers

  /// The state after every event that changed it; a new subscriber gets the present one at once.
  public var statePublisher: SyncSubject<SyncState> { outputs.publishers.state }
  /// Every event, once, after it was reduced.
  public var eventsPublisher: SyncSubject<EventRecord> { outputs.publishers.events }
  /// Every page of a fetch; the page whose `isLast` is true completes the operation.
  ///
  /// Its records are whole.
  public var fetchWorkCompletedSubject: SyncSubject<(FetchOperation, FetchOperation.Response)> {
    outputs.publishers.fetchedPages
  }
  /// Every modification of which all records are saved, deleted or parked, in order.
  ///
  /// The saved records hold what was sent and the new change tags, not whole records: store what
  /// ``ModifyOperation/Response/recordsToStore(stored:)`` returns.
  public var modifyWorkCompletedSubject: SyncSubject<(ModifyOperation, ModifyOperation.Response)> {
    outputs.publishers.modifyCompleted
  }
  /// Every operation that ended otherwise: it was given up, a middleware has dropped it, or its fetch failed.
  public var workFailedSubject: SyncSubject<(SyncWork, SyncError)> { outputs.publishers.failed }
  /// Why the session is stopped; nil when it works again.
  ///
  /// A new subscriber gets the last value.
  public var haltedSubject: SyncSubject<SyncError?> { outputs.publishers.halted }
  /// The account's status as the provider last told it.
  ///
  /// A new subscriber gets the last value.
  public var accountStatusSubject: SyncSubject<AccountStatus> { outputs.publishers.accountStatus }
  /// The state of the zone when it changes.
  ///
  /// A new subscriber gets the last value.
  public var zoneSubject: SyncSubject<ZoneState> { outputs.publishers.zone }
  /// How far the present run of work has come, from idle to idle.
  ///
  /// A new subscriber gets the last value.
  public var progressSubject: SyncSubject<SyncProgress> { outputs.publishers.progress }
  /// What became of parked records after their operations had completed without them.
  public var parkedSubject: SyncSubject<ParkedChange> { outputs.publishers.parked }
  /// What the cloud has now, for a storage layer that keeps that: every page, every end of a modification of which
  /// something is in the cloud, and every parked record that got through, in order.
  ///
  /// Each says the same as what is published beside it. It is not for sessions that have pages acknowledged
  /// (``SyncConfiguration/acknowledgesPages``): such a page has its name in ``fetchWorkCompletedSubject`` alone, and one
  /// that is offered again is older than what came between.
  public var cloudChangesSubject: SyncSubject<CloudChange> { outputs.publishers.cloudChanges }

  // MARK: Parts

  /// The zone, which no event changes.
  let zoneID: ZoneID
  let environment: SyncEnvironment
  /// Where calls go, in order.
  let inbox: Inbox
  /// What takes them out, and decides.
  let engine: Locked<Engine>
  /// What the engine does to the world.
  let outputs: SessionOutputs

  deinit { inbox.release() }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - operationHandler: Does the input and output.
  ///   - zoneID: The zone to sync; every record must belong to it.
  ///   - configuration: Limits, budgets and policies.
  ///   - resolver: Decides about conflicts; by default the fields that the app has set win, all
  ///     others stay as the server has them.
  ///   - resolveExpiredChangeToken: Gives the token to fetch from when one has expired; nil to fetch
  ///     everything.
  ///   - callbackExecutor: Where callbacks run, in order; the session's own executor by default.
  ///   - gate: A gate shared with the other sessions of the account.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  public convenience init(
    operationHandler: any OperationHandler,
    zoneID: ZoneID,
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .fieldwise(default: .client),
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    callbackExecutor: SyncExecutor? = nil,
    gate: SyncGate? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.init(
      operationHandler: operationHandler,
      configuration: configuration,
      resolver: resolver,
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      callbackExecutor: callbackExecutor,
      gate: gate,
      environment: environment
    ) { SyncState(zoneID: zoneID, configuration: $0, nonce: environment.nonce()) }
  }

  /// Creates a session that resolves conflicts with a function of client and server.
  ///
  /// The function returns the record to save, or nil to halt the session.
  public convenience init(
    operationHandler: any OperationHandler,
    zoneID: ZoneID,
    resolveConflict: @escaping @Sendable (_ client: Record, _ server: Record) -> Record?,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.init(
      operationHandler: operationHandler,
      zoneID: zoneID,
      resolver: ConflictResolver(resolveConflict),
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      environment: environment
    )
  }

  /// Goes on with a session from the bytes of a snapshot or a journal.
  ///
  /// What was in flight counts as lost and is sent again unchanged; announcements whose delivery is
  /// not known are made again when the session is started; a new epoch begins.
  ///
  /// - Parameters:
  ///   - archive: What ``SyncArchive`` read.
  ///   - operationHandler: Does the input and output.
  ///   - configuration: Limits, budgets and policies; by default those that were stored, with the
  ///     handler's present limits.
  ///   - resolver: Decides about conflicts; by default the fields that the app has set win, all
  ///     others stay as the server has them.
  ///   - resolveExpiredChangeToken: Gives the token to fetch from when one has expired; nil to fetch
  ///     everything.
  ///   - callbackExecutor: Where callbacks run, in order; the session's own executor by default.
  ///   - gate: A gate shared with the other sessions of the account.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  public convenience init(
    restoring archive: SyncArchive,
    operationHandler: any OperationHandler,
    configuration: SyncConfiguration? = nil,
    resolver: ConflictResolver = .fieldwise(default: .client),
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    callbackExecutor: SyncExecutor? = nil,
    gate: SyncGate? = nil,
    environment: SyncEnvironment = .live
  ) {
    var restored = configuration ?? archive.state.configuration
    // What the handler takes may have changed since.
    restored.limits = configuration?.limits
    self.init(
      operationHandler: operationHandler,
      configuration: restored,
      resolver: resolver,
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      callbackExecutor: callbackExecutor,
      gate: gate,
      environment: environment
    ) {
      restored = $0
      return archive.state
    }
    let event = SyncEvent.restored(nonce: environment.nonce(), configuration: restored)
    inbox.post(.event(event, .call), isReset: true)
  }

  /// Goes on with a session from its journal, or creates one if there is none yet.
  ///
  /// - Parameters:
  ///   - journal: The bytes of a snapshot or a journal, if an earlier process has left any.
  ///   - operationHandler: Does the input and output.
  ///   - zoneID: The zone to sync; every record must belong to it.
  ///   - configuration: Limits, budgets and policies; by default those that were stored, with the
  ///     handler's present limits.
  ///   - resolver: Decides about conflicts; by default the fields that the app has set win, all
  ///     others stay as the server has them.
  ///   - resolveExpiredChangeToken: Gives the token to fetch from when one has expired; nil to fetch
  ///     everything.
  ///   - callbackExecutor: Where callbacks run, in order; the session's own executor by default.
  ///   - gate: A gate shared with the other sessions of the account.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  /// - Throws: What is wrong with the bytes, and where; also that they are of another zone.
  public convenience init(
    journal: Data?,
    operationHandler: any OperationHandler,
    zoneID: ZoneID,
    configuration: SyncConfiguration? = nil,
    resolver: ConflictResolver = .fieldwise(default: .client),
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    callbackExecutor: SyncExecutor? = nil,
    gate: SyncGate? = nil,
    environment: SyncEnvironment = .live
  ) throws(CodedError) {
    guard let journal else {
      self.init(
        operationHandler: operationHandler,
        zoneID: zoneID,
        configuration: configuration ?? SyncConfiguration(),
        resolver: resolver,
        resolveExpiredChangeToken: resolveExpiredChangeToken,
        callbackExecutor: callbackExecutor,
        gate: gate,
        environment: environment
      )
      return
    }
    let archive = try SyncArchive(journal)
    guard archive.state.zoneID == zoneID else {
      throw CodedError(
        place: "the journal",
        reason: "it is of the zone \(archive.state.zoneID), not of \(zoneID)"
      )
    }
    self.init(
      restoring: archive,
      operationHandler: operationHandler,
      configuration: configuration,
      resolver: resolver,
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      callbackExecutor: callbackExecutor,
      gate: gate,
      environment: environment
    )
  }

  /// Goes on with a session from the bytes of a snapshot or a journal, and resolves conflicts with a function of client
  /// and server.
  ///
  /// The function returns the record to save, or nil to halt the session. Functions are not in the bytes: give the
  /// session that is restored the same one.
  public convenience init(
    restoring archive: SyncArchive,
    operationHandler: any OperationHandler,
    resolveConflict: @escaping @Sendable (_ client: Record, _ server: Record) -> Record?,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.init(
      restoring: archive,
      operationHandler: operationHandler,
      resolver: ConflictResolver(resolveConflict),
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      environment: environment
    )
  }

  /// Goes on from what a storage layer with a queue of its own has stored instead of a journal.
  ///
  /// A new epoch begins, and nothing is queued: submit what has not completed. Store the new
  /// session's ``SyncState/essence`` before ``start()``, so that the epoch comes only once.
  ///
  /// - Parameters:
  ///   - essence: What an earlier session has left.
  ///   - operationHandler: Does the input and output.
  ///   - configuration: Limits, budgets and policies.
  ///   - resolver: Decides about conflicts; by default the fields that the app has set win, all
  ///     others stay as the server has them.
  ///   - resolveExpiredChangeToken: Gives the token to fetch from when one has expired; nil to fetch
  ///     everything.
  ///   - callbackExecutor: Where callbacks run, in order; the session's own executor by default.
  ///   - gate: A gate shared with the other sessions of the account.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  public convenience init(
    restoring essence: SyncEssence,
    operationHandler: any OperationHandler,
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .fieldwise(default: .client),
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    callbackExecutor: SyncExecutor? = nil,
    gate: SyncGate? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.init(
      operationHandler: operationHandler,
      configuration: configuration,
      resolver: resolver,
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      callbackExecutor: callbackExecutor,
      gate: gate,
      environment: environment
    ) { SyncState(restoring: essence, configuration: $0, nonce: environment.nonce()) }
  }

  /// Goes on from what a storage layer with a queue of its own has stored, and resolves conflicts with a function of
  /// client and server.
  ///
  /// The function returns the record to save, or nil to halt the session. Functions are not in the essence: give the
  /// session that is restored the same one.
  public convenience init(
    restoring essence: SyncEssence,
    operationHandler: any OperationHandler,
    resolveConflict: @escaping @Sendable (_ client: Record, _ server: Record) -> Record?,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.init(
      restoring: essence,
      operationHandler: operationHandler,
      resolver: ConflictResolver(resolveConflict),
      resolveExpiredChangeToken: resolveExpiredChangeToken,
      environment: environment
    )
  }

  /// Makes the state that the session begins with of the configuration with its limits.
  private convenience init(
    operationHandler: any OperationHandler,
    configuration: SyncConfiguration,
    resolver: ConflictResolver,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)?,
    callbackExecutor: SyncExecutor?,
    gate: SyncGate?,
    environment: SyncEnvironment,
    makeState: (SyncConfiguration) -> SyncState
  ) {
    var configuration = configuration
    configuration.limits = configuration.limits ?? operationHandler.limits
    configuration.check()
    self.init(
      state: makeState(configuration),
      operationHandler: operationHandler,
      chain: Self.defaultChain(
        resolver: resolver.roundingTimestamps(
          to: operationHandler.timestampUnit.clampedNanoseconds
        ),
        resolveExpiredChangeToken: resolveExpiredChangeToken
      ),
      callbackExecutor: callbackExecutor,
      gate: gate,
      environment: environment
    )
  }

  init(
    state: SyncState,
    operationHandler: any OperationHandler,
    chain: sending [any Middleware],
    callbackExecutor: SyncExecutor?,
    gate: SyncGate?,
    environment: SyncEnvironment
  ) {
    zoneID = state.zoneID
    self.environment = environment
    let executor = environment.makeExecutor()
    let inbox = Inbox(for: state, executor: executor)
    outputs = SessionOutputs(
      state: state,
      handler: operationHandler,
      inbox: inbox,
      timer: environment.makeTimer(executor) { [weak inbox] in inbox?.post(.timer) },
      callbackExecutor: callbackExecutor,
      gate: gate
    )
    engine = Locked(
      Engine(state: state, chain: chain, inbox: inbox, outputs: outputs, now: environment.now)
    )
    inbox.connect(to: engine)
    self.inbox = inbox
    gate?.join(inbox, restoring: state.gate.servers, at: environment.now())
  }

  /// The middleware of a session, in the order in which events pass them.
  package static func defaultChain(
    resolver: ConflictResolver,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)?
  ) -> [any Middleware] {
    [
      SplittingMiddleware(),
      ErrorMiddleware(resolver: resolver, resolveExpiredChangeToken: resolveExpiredChangeToken),
      RetryMiddleware(),
      WorkMiddleware(),
      SubjectMiddleware(),
      LoggerMiddleware(),
      ZoneMiddleware(),
    ]
  }

  /// The state after the last event.
  public var state: SyncState { outputs.state }
}
