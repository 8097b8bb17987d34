import CloudSyncSession

/// A handler that keeps every request until its response is given.
final class ScalingHandler: OperationHandler, @unchecked Sendable {
  // It is unchecked because one thread at a time uses a session of the benchmarks.
  typealias Completion<Value> = @Sendable (Result<Value, SyncError>) -> Void

  let limits: RequestLimits
  @exclusivity(unchecked) var modification:
    (operation: ModifyOperation, completion: Completion<ModifyOperation.Response>)?
  @exclusivity(unchecked) var fetch:
    (operation: FetchOperation, completion: Completion<FetchOperation.Response>)?

  init(items: Int) { limits = RequestLimits(items: items, bytes: 1 << 40) }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping Completion<Bool>
  ) { completion(.success(true)) }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping Completion<Bool>
  ) { completion(.success(true)) }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping Completion<ModifyOperation.Response>
  ) { modification = (modifyOperation, completion) }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping Completion<FetchOperation.Response>
  ) { fetch = (fetchOperation, completion) }
}
