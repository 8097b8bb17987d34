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
    let before = Seen(context.state)
    let reduced = next(event)
    guard context.didChange else {
      context.publish(.event)
      return reduced
    }
    let after = Seen(context.state)
    var publication: Publication = [.event, .state]
    if before.progress != after.progress { publication.insert(.progress) }
    if case .accountStatusChanged = reduced { publication.insert(.accountStatus) }
    if before.haltCode != after.haltCode { publication.insert(.halted) }
    if before.zone != after.zone || before.loss != after.loss { publication.insert(.zone) }
    context.publish(publication)
    // What is announced is announced once, when it is decided; a restored session announces at
    // its start what an earlier process may not have.
    let first = before.redeliversOnStart ? context.state.notifications.first : before.end
    if after.end > first, !after.redeliversOnStart { context.announce(first..<after.end) }
    return reduced
  }
}

/// What tells whether there is something to publish.
///
/// It is read before and after every event. The state itself would have to be kept for that, and its
/// rare regions be copied by the next change.
private struct Seen {
  let haltCode: SyncError.Code?
  let zone: ZoneState.Kind
  /// Why the zone is lost: the app decides by that.
  let loss: ZoneLoss?
  let redeliversOnStart: Bool
  let progress: SyncProgress
  /// The number that the next announcement gets.
  let end: UInt64

  init(_ state: SyncState) {
    haltCode = state.cold.value.haltCode
    zone = state.cold.value.zone.zone.kind
    loss = state.cold.value.loss
    redeliversOnStart = state.cold.value.redeliversOnStart
    progress = state.progress
    end = state.notifications.end
  }
}

extension ColdState {
  fileprivate var loss: ZoneLoss? {
    if case .lost(let loss) = zone.zone { loss } else { nil }
  }

  fileprivate var haltCode: SyncError.Code? {
    if case .stopped(let reason) = phase { reason.error.code } else { nil }
  }
}
