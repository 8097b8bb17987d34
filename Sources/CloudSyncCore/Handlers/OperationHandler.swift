/// A type that carries out sync operations against a cloud.
///
/// A session has exactly one handler: the only part of it that does input or output. Conform to this
/// protocol when the transport has callbacks, and to ``AsyncOperationHandler`` when it is `async`.
///
/// ### Implement a handler
///
/// Call `completion` once for each call, from any thread, with the response or with a
/// ``SyncError``. Do not retry, split or resolve conflicts: the session owns those decisions
/// and records them as events. A `.failure` means that nothing of the request is known to be done;
/// records that failed while others were saved go into the response's `failures`.
///
/// The session never has two calls in flight. It takes the first response to the current attempt and
/// ignores every other one, so a late or repeated completion does no harm. One that never comes
/// counts as lost at the deadline in the context, after `cancel(_:)` was called.
public protocol OperationHandler: Sendable {
  /// How much one request may hold; asked once, when the session is made.
  var limits: RequestLimits { get }

  /// What the cloud's timestamps are whole multiples of; asked for once, when the session is made.
  ///
  /// The session rounds what is submitted down to it: an edit with a finer timestamp would never equal
  /// what comes back.
  var timestampUnit: Duration { get }

  /// Creates the zone; one that exists already is a success.
  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  )

  /// Creates the subscription; one that exists already is a success.
  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  )

  /// Saves and deletes records, if their change tags are those of the server.
  ///
  /// The same write token again means the same request again: a cloud that knows such tokens
  /// answers it as the first time.
  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  )

  /// Fetches one page of changes, or looks up the operation's `recordIDs` when it has any.
  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  )

  /// Gives up a call whose response is no longer waited for.
  func cancel(_ attempt: Attempt)
}

extension OperationHandler {
  /// CloudKit's limits: 400 items and 2 MB.
  public var limits: RequestLimits { RequestLimits() }
  /// A nanosecond: the cloud keeps timestamps as they are.
  public var timestampUnit: Duration { .nanoseconds(1) }
  /// Does nothing: a response that comes all the same is ignored.
  public func cancel(_ attempt: Attempt) {}
}
