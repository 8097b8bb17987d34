public import CloudSyncCore

extension SyncEngine {
  // MARK: Pushes

  /// Fetches because of a push, and tells what came of it: what the system wants to know.
  ///
  /// It waits until what has come is stored. A fetch that has not ended by then goes on.
  ///
  /// ```swift
  /// try engine.start()  // a push may have launched the app
  /// switch await engine.fetchNow(upTo: .seconds(20)) { … }
  /// ```
  ///
  /// - Parameter limit: How long to wait at most.
  /// - Returns: `new` if the cloud had anything that was not known here, `nothing` if it had not; `failed` if
  ///   the engine does not run or has halted, the fetch has failed, or the time is over.
  public func fetchNow(upTo limit: Duration) async -> FetchOutcome {
    await withCheckedContinuation { continuation in
      fetchNow(upTo: limit) { continuation.resume(returning: $0) }
    }
  }

  /// Fetches because of a push, and tells a function what came of it.
  ///
  /// - Parameters:
  ///   - limit: How long to wait at most.
  ///   - completion: Called once, on any thread; at once if the engine is stopped or has halted.
  public func fetchNow(
    upTo limit: Duration,
    completion: @escaping @Sendable (FetchOutcome) -> Void
  ) {
    guard let run = control.run, run.state.withLock({ $0.halt == nil }) else {
      return completion(.failed)
    }
    let received = control.state.withLock { $0.counts.received }
    let waiter = FetchWaiter(received: received, completion)
    let timer = context.environment.makeTimer(context.executor) { waiter.end(hasFetched: false) }
    waiter.keep(timer)
    run.fetch(FetchOperation(), waiter: waiter)
    run.lookForZone()
    control.state.withLock { $0.report.fetchWaiters.append(waiter) }
    timer.schedule(after: limit.clampedNanoseconds)
    // After everything that was called for before.
    context.executor.run { [control] in control.report() }
  }
}
