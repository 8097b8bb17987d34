extension CloudSyncSession {
  /// Creates a session for the re-run of a log: it calls nobody, and takes what ``rerun`` gives it.
  package convenience init(rerunning state: SyncState, chain: sending [any Middleware]) {
    self.init(
      state: state,
      operationHandler: SilentHandler(limits: state.limits),
      chain: chain,
      callbackExecutor: nil,
      gate: nil,
      environment: SyncEnvironment(
        now: { Timestamp(nanoseconds: 0) },
        nonce: { 0 },
        makeExecutor: { SyncExecutor { _ in } },
        makeTimer: { _, _ in SilentTimer() }
      )
    )
    engine.withLock { engine in
      engine.checksInvariants = false
      // The chain may have the app's own.
      engine.mayDrop = true
    }
  }

  /// Runs an event that a log has as an input, and all that follows from it, on the calling thread.
  ///
  /// The decisions are what the app's closures decided meanwhile, in order.
  package func rerun(
    event: SyncEvent,
    origin: EventRecord.Origin,
    cause: UInt64?,
    at time: Timestamp,
    decisions: [Decision]
  ) {
    engine.withLock { engine in
      engine.context.now = time
      engine.context.recordedDecisions = decisions
      engine.run(event, origin: origin, cause: cause)
    }
  }

  /// Has an observer hear of a re-run, from the state that the session is in.
  package func observeRerun(observer: any SessionObserver) {
    engine.withLock { $0.observers.append(observer) }
  }

  /// Puts a middleware at a place of a re-run's chain.
  package func attachInRerun(middleware: any Middleware, after name: String?) {
    engine.withLock { $0.attach(middleware, at: name.map(MiddlewarePosition.after) ?? .first) }
  }
}

extension CloudSyncSession {
  /// Takes an event as a report from elsewhere, as from another session that shares the gate.
  package func report(_ event: SyncEvent) { inbox.post(.event(event, .report)) }
}

/// A handler that never answers.
private struct SilentHandler: OperationHandler {
  let limits: RequestLimits

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {}

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {}

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {}

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {}
}

/// A timer that never fires.
private struct SilentTimer: SyncTimer {
  func schedule(after nanoseconds: Int64) {}
  func cancel() {}
}
