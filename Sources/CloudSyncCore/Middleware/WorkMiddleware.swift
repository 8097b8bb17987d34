/// Turns "the state wants this request, and nothing is in flight" into one call of the handler.
public struct WorkMiddleware: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Makes the request that is due, once no other event waits.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let before = context.state.flight?.attempt
    let reduced = next(event)
    let after = context.state.flight?.attempt
    if let before, before != after, reduced.isGivenUp(attempt: before) {
      context.cancelHandler(before)
    }
    if after != nil {
      if before != after { context.callHandler() }
      return reduced
    }
    if context.isLastEvent, case .request(let request) = context.nextStep,
      !context.hasDropped(wanted: request)
    {
      let isRepeat = context.state.modify.repeated > 0 && request.mode == .modify
      context.dispatch(isRepeat ? .retryWork(request) : .startWork(request))
    }
    return reduced
  }
}

extension SyncEvent {
  /// Whether a request ended with this event although its response had not come.
  fileprivate func isGivenUp(attempt: Attempt) -> Bool {
    guard self.attempt == attempt else { return true }
    if case .retry(_, let retry) = self { return retry.error.code == .timedOut }
    // As two cases of one `switch` this crashes the optimizer of Swift 6.3.1.
    if case .resolveConflict(_, let settlement) = self { return settlement.isOfTimeout }
    return false
  }
}
