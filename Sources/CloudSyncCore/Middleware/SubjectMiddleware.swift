/// Sends values to the session's publishers, after the reduction.
public struct SubjectMiddleware: Middleware {
  /// Creates the middleware.
  public init() {}

  /// Publishes what the event brought about.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let old = Glimpse(context.state)
    let reduced = next(event)
    guard context.didChange else {
      context.publish(.event)
      return reduced
    }
    let new = Glimpse(context.state)
    var publication: Publication = [.event, .state]
    if old.haltCode != new.haltCode { publication.insert(.halted) }
    if case .accountStatusChanged = reduced { publication.insert(.accountStatus) }
    if old.zone != new.zone { publication.insert(.zone) }
    if old.progress != new.progress { publication.insert(.progress) }
    context.publish(publication)
    // What is announced is announced once, when it is decided; a restored session announces at
    // its start what an earlier process may not have.
    let first = old.redeliversOnStart ? context.state.notifications.first : old.notes
    if new.notes > first, !new.redeliversOnStart { context.announce(first..<new.notes) }
    return reduced
  }

  /// The few facts about a state that are compared.
  private struct Glimpse {
    let haltCode: SyncError.Code?
    let redeliversOnStart: Bool
    let zone: ZoneState.Kind
    let progress: SyncProgress
    let notes: UInt64

    init(_ state: SyncState) {
      haltCode = state.isHalted ? state.haltReason?.error.code : nil
      redeliversOnStart = state.cold.value.redeliversOnStart
      zone = state.zone.zone.kind
      progress = state.progress
      notes = state.notifications.end
    }
  }
}
