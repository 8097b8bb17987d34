/// An operation handler whose transport is `async`.
///
/// Pass `AsyncHandlerAdapter(handler)` to a session. The rules are those of ``OperationHandler``;
/// a call that is no longer waited for is cancelled as a task.
public protocol AsyncOperationHandler: Sendable {
  /// How much one request may hold.
  var limits: RequestLimits { get }
  /// What the cloud's timestamps are whole multiples of.
  var timestampUnit: Duration { get }

  /// Creates the zone and returns whether it exists now.
  func createZone(
    _ operation: CreateZoneOperation,
    context: RequestContext
  ) async throws(SyncError) -> Bool

  /// Creates the subscription and returns whether it exists now.
  func createSubscription(
    _ operation: CreateSubscriptionOperation,
    context: RequestContext
  ) async throws(SyncError) -> Bool

  /// Saves and deletes records.
  func modify(
    _ operation: ModifyOperation,
    context: RequestContext
  ) async throws(SyncError) -> ModifyOperation.Response

  /// Fetches one page of changes, or looks up single records.
  func fetch(
    _ operation: FetchOperation,
    context: RequestContext
  ) async throws(SyncError) -> FetchOperation.Response
}

extension AsyncOperationHandler {
  /// CloudKit's limits: 400 items and 2 MB.
  public var limits: RequestLimits { RequestLimits() }
  /// A nanosecond: the cloud keeps timestamps as they are.
  public var timestampUnit: Duration { .nanoseconds(1) }
}

/// Makes an operation handler of an asynchronous one.
///
/// Several sessions may share it. As their attempts may have equal names, one that is no longer waited for is cancelled
/// only if no other of its name is running.
public final class AsyncHandlerAdapter<Handler: AsyncOperationHandler>: OperationHandler {
  private let handler: Handler
  private let running = Locked(Running())

  private struct Running: Sendable {
    var tasks: [UInt64: (attempt: Attempt, task: Task<Void, Never>)] = [:]
    /// Calls that ended before their tasks were noted.
    var ended: Set<UInt64> = []
    var next: UInt64 = 0
  }

  /// Creates the adapter.
  public init(_ handler: Handler) { self.handler = handler }

  /// The handler's own limits.
  public var limits: RequestLimits { handler.limits }
  /// The handler's own unit.
  public var timestampUnit: Duration { handler.timestampUnit }

  private func run<Value: Sendable>(
    in context: RequestContext,
    completion: @escaping @Sendable (Result<Value, SyncError>) -> Void,
    body: @escaping @Sendable () async throws(SyncError) -> Value
  ) {
    let number = running.withLock { running in
      running.next += 1
      return running.next
    }
    let running = running
    let task = Task {
      let result: Result<Value, SyncError>
      do throws(SyncError) { result = .success(try await body()) } catch {
        result = .failure(error)
      }
      running.withLock { running in
        if running.tasks.removeValue(forKey: number) == nil { running.ended.insert(number) }
      }
      completion(result)
    }
    running.withLock { running in
      if running.ended.remove(number) == nil { running.tasks[number] = (context.attempt, task) }
    }
  }

  /// Creates the zone.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    let handler = handler
    run(in: context, completion: completion) { () async throws(SyncError) in
      try await handler.createZone(operation, context: context)
    }
  }

  /// Creates the subscription.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    let handler = handler
    run(in: context, completion: completion) { () async throws(SyncError) in
      try await handler.createSubscription(operation, context: context)
    }
  }

  /// Saves and deletes records.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let handler = handler
    run(in: context, completion: completion) { () async throws(SyncError) in
      try await handler.modify(operation, context: context)
    }
  }

  /// Fetches one page of changes, or looks up single records.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    let handler = handler
    run(in: context, completion: completion) { () async throws(SyncError) in
      try await handler.fetch(operation, context: context)
    }
  }

  /// Cancels the task of a call.
  public func cancel(_ attempt: Attempt) {
    let tasks = running.withLock { running in
      running.tasks.values.filter { $0.attempt == attempt }.map(\.task)
    }
    if tasks.count == 1 { tasks[0].cancel() }
  }
}
