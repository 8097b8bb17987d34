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
    context.publish(.event)
    guard context.didChange else { return reduced }
    let new = Glimpse(context.state)
    context.publish(.state)
    switch reduced {
    case .start:
      if old.isHalted { context.publish(.halted(nil)) }
      if old.owesAnnouncements { publishOwed(context) }
    case .accountStatusChanged(let status, _): context.publish(.accountStatus(status))
    default:
      if new.isHalted, let error = context.state.haltReason?.error, !old.isHalted {
        context.publish(.halted(error))
      } else if old.isHalted, !new.isHalted {
        context.publish(.halted(nil))
      }
    }
    if old.zone != new.zone { context.publish(.zone(context.state.zoneState)) }
    if old.progress != new.progress { context.publish(.progress(context.state.progress)) }
    // What is announced is announced once, when it is decided; a restored session announces at
    // its start what an earlier process may not have.
    if new.notes > old.notes, !new.owesAnnouncements, !old.owesAnnouncements {
      context.publish(.notes(old.notes..<new.notes))
    }
    return reduced
  }

  private func publishOwed(_ context: MiddlewareContext) {
    let notes = context.state.notes
    if notes.end > notes.first { context.publish(.notes(notes.first..<notes.end)) }
  }

  /// The few facts about a state that are compared.
  private struct Glimpse {
    let isHalted: Bool
    let owesAnnouncements: Bool
    let zone: ZoneState.Kind
    let progress: SyncProgress
    let notes: UInt64

    init(_ state: SyncState) {
      isHalted = state.isHalted
      owesAnnouncements = state.rare.value.owesAnnouncements
      zone = state.zone.zone.kind
      progress = state.progress
      notes = state.notes.end
    }
  }
}
