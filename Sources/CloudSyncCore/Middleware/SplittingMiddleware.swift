/// Decides how much of the queue the next request takes.
///
/// A request is a prefix of what waits, up to the handler's ``RequestLimits`` or to the smaller size
/// that the cloud has taught: several small operations travel as one request, a large one as several.
/// Nothing is copied, reordered or put back.
public struct SplittingMiddleware: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Gives every request its limits.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    guard case .startWork(var request) = event, request.limits == nil else { return next(event) }
    request.limits = context.state.requestLimits
    return next(.startWork(request))
  }
}
