import CloudSyncCore
import CloudSyncTestSupport

/// Remembers the events that pass its place in the chain, and may change them.
struct SpyMiddleware: Middleware {
  /// One event as it passed.
  struct Sight: Sendable {
    /// As the middleware before this one passed it on.
    var event: SyncEvent
    /// As it was reduced in the end.
    var reduced: SyncEvent
    var origin: EventRecord.Origin
    var cause: UInt64?
    /// The number that the event got.
    var sequence: UInt64
    var before: SyncState
    var after: SyncState
  }

  let name: String
  let sights = Collector<Sight>()
  private let change: @Sendable (SyncEvent, MiddlewareContext) -> SyncEvent
  private let react: @Sendable (SyncEvent, MiddlewareContext) -> Void

  init(
    _ name: String = "Spy",
    change: @escaping @Sendable (SyncEvent, MiddlewareContext) -> SyncEvent = { event, _ in event },
    react: @escaping @Sendable (SyncEvent, MiddlewareContext) -> Void = { _, _ in }
  ) {
    self.name = name
    self.change = change
    self.react = react
  }

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let before = context.state
    let reduced = next(change(event, context))
    sights.add(
      Sight(
        event: event,
        reduced: reduced,
        origin: context.origin,
        cause: context.cause,
        sequence: context.state.eventCount,
        before: before,
        after: context.state
      )
    )
    react(reduced, context)
    return reduced
  }

  /// The names of the events that passed, without reports of deliveries.
  var names: [String] { sights.entries.map(\.event.name).filter { $0 != "delivered" } }

  /// The only sight of an event of a name, or the first.
  func first(_ name: String) -> Sight? { sights.entries.first { $0.event.name == name } }

  func all(_ name: String) -> [Sight] { sights.entries.filter { $0.event.name == name } }
}

extension SessionHarness {
  /// Puts a spy before and one after a middleware.
  func spies(around name: String) -> (before: SpyMiddleware, after: SpyMiddleware) {
    let spies = (before: SpyMiddleware("Before"), after: SpyMiddleware("After"))
    session.insertMiddleware(spies.before, before: name)
    session.insertMiddleware(spies.after, after: name)
    return spies
  }
}
