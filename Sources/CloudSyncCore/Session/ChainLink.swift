/// One middleware in its place in the chain.
///
/// Links are made once, not for every event: what a middleware is given as `next` is the next link's
/// own closure.
final class ChainLink {
  let middleware: any Middleware
  private let context: MiddlewareContext
  private let callNext: (SyncEvent) -> SyncEvent

  /// Puts a middleware before what `next` runs.
  init(
    _ middleware: any Middleware,
    _ context: MiddlewareContext,
    next: @escaping (SyncEvent) -> SyncEvent
  ) {
    self.middleware = middleware
    self.context = context
    callNext = { event in
      context.depth += 1
      return next(event)
    }
  }

  /// Runs the middleware, which runs the rest of the chain.
  func run(_ event: SyncEvent, at place: Int) -> SyncEvent {
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
