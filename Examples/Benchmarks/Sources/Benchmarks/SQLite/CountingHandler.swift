import CloudSyncSession

/// Counts the records that go to a cloud.
final class CountingHandler: OperationHandler, @unchecked Sendable {
  // It is unchecked because every benchmark uses it from one thread at a time.
  private let cloud: any OperationHandler
  private(set) var sent = 0

  init(_ cloud: any OperationHandler) { self.cloud = cloud }

  var limits: RequestLimits { cloud.limits }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    cloud.handle(createZoneOperation: createZoneOperation, context: context, completion: completion)
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    cloud.handle(
      createSubscriptionOperation: createSubscriptionOperation,
      context: context,
      completion: completion
    )
  }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    sent += modifyOperation.records.count + modifyOperation.recordIDsToDelete.count
    cloud.handle(modifyOperation: modifyOperation, context: context, completion: completion)
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    cloud.handle(fetchOperation: fetchOperation, context: context, completion: completion)
  }

  func cancel(_ attempt: Attempt) { cloud.cancel(attempt) }
}
