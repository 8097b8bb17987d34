/// One step in the chain that every event passes.
///
/// A middleware sees every event twice. Before it calls `next` it may change the event; `next` runs
/// the rest of the chain and, at its end, the reduction, and returns the event that was reduced.
/// After that `context.state` is the new state, and only then may the middleware ask for effects.
///
/// ```swift
/// struct Counting: Middleware {
///   let name = "Counting"
///   let count: @Sendable (String) -> Void
///   func run(event: SyncEvent, context: MiddlewareContext, next: (SyncEvent) -> SyncEvent) -> SyncEvent {
///     let reduced = next(event)
///     count(reduced.name)
///     return reduced
///   }
/// }
/// ```
///
/// Passing on `.noop` drops an event. A request (`startWork`, `retryWork`) that is dropped is asked
/// for again when the session is next told something: a middleware that holds requests back while
/// the device is on an expensive network needs nothing but a call of
/// ``CloudSyncSession/connectivityChanged()`` when that ends.
///
/// `next` is called exactly once. A middleware is a value without a reference to the session; it is
/// always called on the session's executor, one event at a time.
public protocol Middleware: Sendable {
  /// The name by which others are inserted before or after it; unique in a session.
  var name: String { get }

  /// Events that the session takes in when the middleware joins it; none by default.
  var attachmentEvents: [SyncEvent] { get }

  /// Handles an event.
  ///
  /// - Parameters:
  ///   - event: The event as the middleware before this one passed it on.
  ///   - context: The state, and a way to ask for effects.
  ///   - next: Runs the rest of the chain and the reduction; call it exactly once.
  /// - Returns: What `next` returned.
  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent
}

extension Middleware {
  /// The name of the type.
  public var name: String { "\(Self.self)" }
  /// No events.
  public var attachmentEvents: [SyncEvent] { [] }
}
