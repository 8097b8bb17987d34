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
    let cold = context.state.cold
    let progress = context.state.progress
    let notes = context.state.notifications.end
    let reduced = next(event)
    guard context.didChange else {
      context.publish(.event)
      return reduced
    }
    var publication: Publication = [.event, .state]
    if progress != context.state.progress { publication.insert(.progress) }
    if case .accountStatusChanged = reduced { publication.insert(.accountStatus) }
    let new = context.state.cold
    if !cold.sharesStorage(with: new) {
      if cold.value.haltCode != new.value.haltCode { publication.insert(.halted) }
      if cold.value.zone.zone.kind != new.value.zone.zone.kind { publication.insert(.zone) }
    }
    context.publish(publication)
    // What is announced is announced once, when it is decided; a restored session announces at
    // its start what an earlier process may not have.
    let first = cold.value.redeliversOnStart ? context.state.notifications.first : notes
    let end = context.state.notifications.end
    if end > first, !new.value.redeliversOnStart { context.announce(first..<end) }
    return reduced
  }
}

extension ColdState {
  fileprivate var haltCode: SyncError.Code? {
    if case .stopped(let reason) = phase { reason.error.code } else { nil }
  }
}
