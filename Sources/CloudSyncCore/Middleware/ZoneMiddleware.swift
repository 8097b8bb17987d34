/// On start, queues the creation of zone and subscription where the state does not know them to
/// exist.
public struct ZoneMiddleware: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Queues the creations.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced = next(event)
    guard case .start = reduced else { return reduced }
    let zoneID = context.state.zoneID
    if case .unknown = context.state.zoneState {
      context.dispatch(.doWork(.createZone(CreateZoneOperation(zoneID: zoneID))))
    }
    if case .unknown = context.state.subscriptionState {
      context.dispatch(.doWork(.createSubscription(CreateSubscriptionOperation(zoneID: zoneID))))
    }
    return reduced
  }
}
