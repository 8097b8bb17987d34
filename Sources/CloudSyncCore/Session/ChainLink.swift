/// One middleware in its place in the chain.
///
/// Links are made once, not for every event, and so is the closure that a middleware is given as `next`.
final class ChainLink {
  let middleware: any Middleware
  private let context: MiddlewareContext
  private let place: Int
  private let callNext: (SyncEvent) -> SyncEvent

  /// Puts a middleware before another link, or before the reduction if there is none.
  init(_ middleware: any Middleware, _ context: MiddlewareContext, at place: Int, next: ChainLink?)
  {
    self.middleware = middleware
    self.context = context
    self.place = place
    if let next {
      callNext = { event in
        context.depth += 1
        return next.run(event)
      }
    } else {
      callNext = { event in
        context.depth += 1
        context.reduce(event: event)
        return event
      }
    }
  }

  /// Runs the middleware, which runs the rest of the chain.
  func run(_ event: SyncEvent) -> SyncEvent {
    precondition(
      context.depth == place,
      "A middleware called next twice, and \(middleware.name) saw it: call next exactly once."
    )
    let result = middleware.run(event: event, context: context, next: callNext)
    precondition(
      context.isReduced,
      "The middleware \(middleware.name) did not call next: call it exactly once."
    )
    return result
  }
}
