import CloudSyncCore
import CloudSyncWire

@testable import CloudSyncService

/// A handler that sends every request through the bytes of the API, both ways, to another handler.
///
/// It is what a client and a server do, without a network between them, on the calling thread.
struct WireLoopbackHandler: OperationHandler {
  private let base: any OperationHandler
  private let zoneID: ZoneID
  private let isAtomic: Bool

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - base: The server's end.
  ///   - zoneID: The session's zone.
  ///   - isAtomic: Whether modifications are all or nothing, where the base asks.
  init(_ base: any OperationHandler, zoneID: ZoneID, isAtomic: Bool = false) {
    self.base = base
    self.zoneID = zoneID
    self.isAtomic = isAtomic
  }

  var limits: RequestLimits { base.limits }
  var timestampUnit: Duration { WireTime.unit }

  func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { send(.createZone(operation.zoneID), context, completion: completion) }

  func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { send(.createSubscription(operation.zoneID), context, completion: completion) }

  func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let modification = WireModification(operation, zoneID: zoneID, isAtomic: isAtomic)
    if let problem = modification.problem(in: .own) { return completion(.failure(problem)) }
    send(
      .modify(modification, writeToken: context.writeToken),
      context,
      completion: completion
    )
  }

  func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    switch WireCall.fetch(operation, in: zoneID) {
    case .success(let call): send(call, context, completion: completion)
    case .failure(let error): completion(.failure(error))
    }
  }

  func cancel(_ attempt: Attempt) { base.cancel(attempt) }

  private func send<Answer: Sendable>(
    _ call: WireCall<Answer>,
    _ context: RequestContext,
    completion: @escaping @Sendable (Result<Answer, SyncError>) -> Void
  ) {
    var limits = ServiceLimits()
    limits.items = .max
    let server = SameCallHandler(base: base, context: context)
    let desk = EndpointDesk(
      scope: zoneID.scope,
      limits: limits,
      nonce: { 0 },
      zones: nil,
      wireAsset: { WireAsset($0) }
    ) { (_, _) in server }
    let database = WireDatabase(container: "loopback", environment: "production")
    var call = call
    call.historyTokens = context.historyTokens
    desk.respond(to: call.request(to: database), at: call.endpoint) { [call] response in
      completion(call.answer(response, now: .distantPast))
    }
  }
}

/// Gives every request the attempt and the deadline of the call that it was made for, which do not travel.
private struct SameCallHandler: OperationHandler {
  let base: any OperationHandler
  let context: RequestContext

  private func merged(_ other: RequestContext) -> RequestContext {
    RequestContext(
      attempt: context.attempt,
      writeToken: other.writeToken.nonce == 0 ? context.writeToken : other.writeToken,
      deadline: context.deadline,
      historyTokens: other.historyTokens
    )
  }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    base.handle(
      createZoneOperation: createZoneOperation,
      context: merged(context),
      completion: completion
    )
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    base.handle(
      createSubscriptionOperation: createSubscriptionOperation,
      context: merged(context),
      completion: completion
    )
  }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    base.handle(modifyOperation: modifyOperation, context: merged(context), completion: completion)
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    base.handle(fetchOperation: fetchOperation, context: merged(context), completion: completion)
  }
}
