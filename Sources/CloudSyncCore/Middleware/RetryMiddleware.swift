/// Decides how long the session waits before it sends again, and has it woken in time.
///
/// Waits grow with every failure of their cause, are jittered and capped, and never end before the
/// time that the server asked for.
public struct RetryMiddleware: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Gives every wait its length, and asks for the next wake-up.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced: SyncEvent
    if let wait = event.wait, wait.nanoseconds == nil {
      reduced = next(timed(event: event, wait: wait, context: context))
    } else {
      reduced = next(event)
    }
    if case .wait(_, let time?) = context.nextStep { context.wake(at: time) }
    if context.didChange, let wait = reduced.wait, wait.serverNanoseconds != nil,
      wait.cause == .service
    {
      if case .gateClosed = reduced { return reduced }
      context.closeSharedGate(wait)
    }
    return reduced
  }

  private func timed(event: SyncEvent, wait: Wait, context: MiddlewareContext) -> SyncEvent {
    var wait = wait
    wait.nanoseconds = context.state.waitLength(for: wait)
    switch event {
    case .retry(let attempt, var retry):
      retry.wait = wait
      return .retry(attempt, retry)
    case .settleItems(let attempt, var settlement):
      settlement.wait = wait
      return .settleItems(attempt, settlement)
    case .resolveConflict(let attempt, var settlement):
      settlement.wait = wait
      return .resolveConflict(attempt, settlement)
    case .gateClosed: return .gateClosed(wait)
    default: return event
    }
  }
}

extension SyncEvent {
  /// The pause that the event asks for.
  package var wait: Wait? {
    switch self {
    case .retry(_, let retry): retry.wait
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement): settlement.wait
    case .gateClosed(let wait): wait
    case .split(_, let split): split.error.serverWait
    case .startOver(_, _, let error), .failFetch(_, let error): error.serverWait
    case .workSuccess(_, .fetch(let page)): page.serverWait
    default: nil
    }
  }
}
