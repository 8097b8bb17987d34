#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

  /// The bytes of everything called before, and of every announcement not yet delivered.
  public func snapshot() async -> Data {
    await withCheckedContinuation { continuation in
      snapshot { continuation.resume(returning: $0) }
    }
  }
}
