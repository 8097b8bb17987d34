#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CloudSyncSession {
  // MARK: Life

  /// Starts the session, or starts it again after a stop, an error, a reset or a restore.
  ///
  /// Whatever is in flight is not sent again. The session's own waits begin afresh; one that the
  /// server asked for goes on.
  public func start() { inbox.post(.event(.start, .call)) }

  /// Stops the session; queued work is kept, and a response that is on its way is still taken.
  public func stop() {
    inbox.post(.event(.halt(SyncError(.stopped, "the session was stopped")), .call))
  }

  /// Gives up all work and forgets what is known of zone, account and tokens: the session is as
  /// new, and waits for ``start()``.
  ///
  /// Everything submitted before ends as failed with the code ``SyncError/Code/reset`` and its
  /// records; answers that are on their way are ignored.
  public func reset() {
    let input = SessionInput.event(.reset(nonce: environment.nonce()), .call)
    inbox.post(input, isReset: true)
  }

  // MARK: Work

  /// Queues records to be saved and deleted.
  ///
  /// - Parameters:
  ///   - operation: The edits.
  ///   - completion: Called once, with what became of the records, or with the error for which the
  ///     operation was given up.
  ///   - accepted: Called once, when the operation is in the session's state and in its journal, with
  ///     the operation as it is queued: named, and reduced to what differs from the ancestors. It is
  ///     called where all callbacks are, in order with pages and completions, and before the
  ///     operation's own: apply the edits to what is stored then, and no page can come in between.
  /// - Returns: The operation's name.
  /// - Throws: A violation that names the record and the rule, before anything is queued.
  /// - Complexity: O(*n*) in the records of the operation, on the caller's thread; O(1) on the
  ///   session's.
  @discardableResult
  public func modify(
    _ operation: ModifyOperation,
    completion: (@Sendable (Result<ModifyOperation.Response, SyncError>) -> Void)? = nil,
    accepted: (@Sendable (ModifyOperation) -> Void)? = nil
  ) throws(RecordRuleViolation) -> OperationID {
    let submission = try Submission(
      operation,
      zoneID: zoneID,
      timestampUnit: outputs.timestampUnit
    )
    return inbox.submit { id in
      if let completion { outputs.completions.withLock { $0.add(.modify(completion), for: id) } }
      let event = SyncEvent.doWork(.modify(submission.operation(named: id)))
      return accepted.map { .submission(event, accepted: $0) } ?? .event(event, .call)
    }
  }

  /// Queues a fetch of changes.
  ///
  /// - Parameters:
  ///   - operation: Where to begin.
  ///   - completion: Called once: with the last page, or with the error that ended the fetch.
  /// - Returns: The operation's name.
  @discardableResult
  public func fetch(
    _ operation: FetchOperation = FetchOperation(),
    completion: (@Sendable (Result<FetchOperation.Response, SyncError>) -> Void)? = nil
  ) -> OperationID {
    inbox.submit { id in
      if let completion { outputs.completions.withLock { $0.add(.fetch(completion), for: id) } }
      var operation = operation
      operation.id = id
      return .event(.doWork(.fetch(operation)), .call)
    }
  }

  /// Gives up an operation: whatever of it has not been sent.
  ///
  /// It then ends as failed with the code ``SyncError/Code/cancelled``, with what had been saved and
  /// what was not. What is in flight for the first time is waited for. Records whose response was lost are
  /// not: they fail with ``SyncError/Code/outcomeUnknown``, for they may have been saved, in part if a conflict was
  /// merged since. So does an edit that was merged with another operation's before it was sent, which goes on with that;
  /// it is withdrawn with the last of them. An operation that was wholly answered completes as usual.
  ///
  /// What is given up may still be on its way to the cloud: a deletion with ``SyncError/Code/outcomeUnknown`` may be
  /// carried out after a later save of its record. Fetch before the record is edited again.
  public func cancel(_ id: OperationID) { inbox.post(.event(.cancel(id), .call)) }

  // MARK: Waits

  /// Tries now, whatever the waits, the server's included: for a button that says "Sync now".
  public func retryNow() { inbox.post(.event(.retryNow, .call)) }

  /// Tries now because the network is back; a wait that the server asked for goes on.
  public func connectivityChanged() { inbox.post(.event(.connectivityChanged, .call)) }

  // MARK: Parked records

  /// Sends parked records again, before everything that is queued: these, or all.
  public func retryParked(_ recordIDs: [RecordID]? = nil) {
    inbox.post(.event(.retryParked(recordIDs), .call))
  }

  /// Drops parked records: these, or all.
  public func dropParked(_ recordIDs: [RecordID]? = nil) {
    inbox.post(.event(.dropParked(recordIDs), .call))
  }

  // MARK: Pages, account, zone

  /// Says what the app did with a page, where ``SyncConfiguration/acknowledgesPages`` is set.
  ///
  /// The next page comes after that. A second word about one page, or one about a page that is not awaited, changes nothing.
  ///
  /// - Parameters:
  ///   - page: The page's name, ``FetchOperation/Response/page``.
  ///   - answer: Whether it is stored, or is to be announced again later.
  public func acknowledge(_ page: PageID, _ answer: PageAnswer) {
    inbox.post(.event(.acknowledge(page, answer), .call))
  }

  /// Says that the account may have changed: nothing is sent before its provider has answered.
  public func accountDidChange() { inbox.post(.event(.accountDidChange, .call)) }

  /// Decides what becomes of the work of an account when another has signed in.
  public func resolveAccountSwitch(_ decision: AccountSwitchDecision) {
    inbox.post(.event(.resolveAccountSwitch(decision, nonce: environment.nonce()), .call))
  }

  /// Decides what becomes of a lost zone; without one it changes nothing.
  ///
  /// With ``ZoneDecision/abandon`` all queued work ends as failed, with the code ``SyncError/Code/zoneAbandoned``, and parked
  /// records are dropped.
  public func decideZone(_ decision: ZoneDecision) {
    inbox.post(.event(.decideZone(decision), .call))
  }

  // MARK: Middleware

  /// Adds a middleware at the end of the chain, next to the reduction.
  ///
  /// - Precondition: The session has no middleware of its name yet.
  public func appendMiddleware(_ middleware: any Middleware) {
    inbox.post(.middleware(middleware, .end))
  }

  /// Adds a middleware before the one of a name.
  ///
  /// - Precondition: The session has a middleware of that name, and none of the new one's name yet.
  public func insertMiddleware(_ middleware: any Middleware, before name: String) {
    inbox.post(.middleware(middleware, .before(name)))
  }

  /// Adds a middleware after the one of a name.
  ///
  /// - Precondition: The session has a middleware of that name, and none of the new one's name yet.
  public func insertMiddleware(_ middleware: any Middleware, after name: String) {
    inbox.post(.middleware(middleware, .after(name)))
  }

  // MARK: Diagnosis

  /// Says in words and as a value why the session is or is not working now, and when it will next
  /// try.
  public func explain() -> Explanation { state.explain(at: environment.now()) }

  // MARK: Storage

  /// Has every event from here on written, as bytes, in order and before its effects.
  ///
  /// The first bytes are a snapshot, so what the closure is given is complete by itself: append
  /// all of it to one file and ``SyncArchive/init(_:)`` reads it back. Call it again with another
  /// closure to begin a new file. The closure runs on the session's executor.
  ///
  /// The closure cannot report a failure: if the bytes cannot be written, end the process, or a later crash loses edits that
  /// were accepted. The bytes hold the values of records: protect them as the records themselves.
  public func journal(to write: @escaping @Sendable (_ bytes: Data) -> Void) {
    inbox.post(.journal(write))
  }

  /// Gives the bytes of everything called before, and of every announcement not yet delivered.
  public func snapshot(completion: @escaping @Sendable (_ bytes: Data) -> Void) {
    inbox.post(.snapshot(completion))
  }
}
