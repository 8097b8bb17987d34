public import CloudSyncCore

/// An operation handler that takes all four kinds of work in one method.
///
/// It is what handlers that stand between a session and another handler conform to: they see the
/// same thing whatever the work is.
public protocol WorkHandler: OperationHandler {
  /// What becomes of a call: a response of the same kind as the work, or an error.
  typealias Completion = @Sendable (Result<SyncWork.Result, SyncError>) -> Void

  /// Does one piece of work, or passes it on.
  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion)
}

extension WorkHandler {
  /// Passes the creation of a zone on.
  public func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handle(.createZone(createZoneOperation), context: context) { result in
      completion(
        result.flatMap { answer in
          if case .createZone(let isDone) = answer { .success(isDone) } else { .failure(.misfit) }
        }
      )
    }
  }

  /// Passes the creation of a subscription on.
  public func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handle(.createSubscription(createSubscriptionOperation), context: context) { result in
      completion(
        result.flatMap { answer in
          if case .createSubscription(let isDone) = answer {
            .success(isDone)
          } else {
            .failure(.misfit)
          }
        }
      )
    }
  }

  /// Passes a modification on.
  public func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    handle(.modify(modifyOperation), context: context) { result in
      completion(
        result.flatMap { answer in
          if case .modify(let response) = answer { .success(response) } else { .failure(.misfit) }
        }
      )
    }
  }

  /// Passes a fetch on.
  public func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    handle(.fetch(fetchOperation), context: context) { result in
      completion(
        result.flatMap { answer in
          if case .fetch(let response) = answer { .success(response) } else { .failure(.misfit) }
        }
      )
    }
  }
}

extension OperationHandler {
  /// Calls the method for the kind of work.
  public func perform(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping @Sendable (Result<SyncWork.Result, SyncError>) -> Void
  ) {
    switch work {
    case .createZone(let operation):
      handle(createZoneOperation: operation, context: context) { result in
        completion(result.map(SyncWork.Result.createZone))
      }
    case .createSubscription(let operation):
      handle(createSubscriptionOperation: operation, context: context) { result in
        completion(result.map(SyncWork.Result.createSubscription))
      }
    case .modify(let operation):
      handle(modifyOperation: operation, context: context) { result in
        completion(result.map(SyncWork.Result.modify))
      }
    case .fetch(let operation):
      handle(fetchOperation: operation, context: context) { result in
        completion(result.map(SyncWork.Result.fetch))
      }
    }
  }
}

extension SyncError {
  /// A work handler answered with a result of another kind than the work.
  fileprivate static let misfit = SyncError(
    .invalidResponse,
    "the response is for another kind of work than was asked for"
  )
}
