#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a fetch brought: what a push handler must answer.
public enum FetchOutcome: Sendable, Hashable {
  /// Something changed.
  case new
  /// Nothing changed.
  case nothing
  /// The fetch failed, or did not end in time.
  case failed
}

extension CloudSyncSession {
  /// Queues a modification and waits for its completion.
  ///
  /// Cancelling the task cancels the operation.
  ///
  /// - Returns: What became of the records; those in `failures` were parked.
  /// - Throws: A ``RecordRuleViolation`` before anything is queued, or the ``SyncError`` for which
  ///   the operation was given up.
  public func perform(_ operation: ModifyOperation) async throws -> ModifyOperation.Response {
    let submission = try Submission(
      operation,
      zoneID: zoneID,
      timestampUnit: outputs.timestampUnit
    )
    return try await finish { completion in
      self.inbox.submit { id in
        self.outputs.completions.withLock { $0.add(.modify(completion), for: id) }
        return .event(.doWork(.modify(submission.operation(named: id))), .call)
      }
    }
  }

  /// Queues a fetch and waits for its last page.
  ///
  /// The pages come through ``fetchWorkCompletedSubject``. Cancelling the task cancels the fetch.
  ///
  /// - Throws: The ``SyncError`` that ended the fetch.
  public func perform(_ operation: FetchOperation) async throws -> FetchOperation.Response {
    try await finish { completion in self.fetch(operation, completion: completion) }
  }

  /// Submits an operation and suspends until it ends.
  private func finish<Value: Sendable>(
    _ submit: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> OperationID
  ) async throws -> Value {
    let name = Locked<(id: OperationID?, isCancelled: Bool)>((nil, false))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Value, any Error>) in
        let id = submit { result in continuation.resume(with: result.mapError { $0 as any Error }) }
        let isCancelled = name.withLock { name in
          name.id = id
          return name.isCancelled
        }
        if isCancelled { cancel(id) }
      }
    } onCancel: {
      let id = name.withLock { name in
        name.isCancelled = true
        return name.id
      }
      if let id { cancel(id) }
    }
  }

  /// Waits until nothing is queued, on its way or to be announced, at most for a while.
  ///
  /// - Returns: Whether that came about in time; false at once when the session is stopped before.
  public func idle(upTo limit: Duration) async -> Bool {
    await withCheckedContinuation { continuation in
      let waiter = Waiter(
        number: inbox.nameWaiter(),
        deadline: Deadline(from: environment.now(), nanoseconds: limit.clampedNanoseconds),
        isSatisfied: \.isIdle,
        resume: { continuation.resume(returning: $0) }
      )
      inbox.post(.waiter(waiter))
    }
  }

  /// Fetches what has changed, and says in time what a push handler must answer.
  ///
  /// A fetch that has not ended by then goes on; one of a stopped session has failed at once, and
  /// goes on with the next start.
  public func fetchNow(upTo limit: Duration) async -> FetchOutcome {
    let outcome = Locked<FetchOutcome?>(nil)
    let outputs = outputs
    let before = outputs.pagesOfNews.withLock { $0 }
    let number = inbox.nameWaiter()
    let deadline = Deadline(from: environment.now(), nanoseconds: limit.clampedNanoseconds)
    return await withCheckedContinuation { continuation in
      fetch { [weak self, weak outputs] result in
        let isNew = outputs?.pagesOfNews.withLock { $0 } != before
        if case .success = result {
          outcome.withLock { $0 = isNew ? .new : .nothing }
        } else {
          outcome.withLock { $0 = .failed }
        }
        self?.inbox.post(.fulfilled(number))
      }
      let waiter = Waiter(
        number: number,
        deadline: deadline,
        isSatisfied: { _ in outcome.withLock { $0 != nil } },
        resume: { _ in continuation.resume(returning: outcome.withLock { $0 } ?? .failed) }
      )
      inbox.post(.waiter(waiter))
    }
  }

  /// The bytes of everything called before, and of every announcement not yet delivered.
  public func snapshot() async -> Data {
    await withCheckedContinuation { continuation in
      snapshot { continuation.resume(returning: $0) }
    }
  }
}
