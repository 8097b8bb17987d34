/// What the event log hears of a session, on the session's executor: everything, before any effect.
package protocol SessionObserver: AnyObject, Sendable {
  /// It was attached to a session in this state, with these middleware, at this time.
  func begin(_ state: SyncState, middleware: [String], at time: Timestamp)
  /// An event was reduced.
  func observe(_ step: ObservedStep)
  /// A middleware has joined the chain.
  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp)
  /// It was detached, or the session has ended, in this state.
  func end(_ state: SyncState)
}

/// An event and all that belongs to it.
package struct ObservedStep: Sendable {
  /// The event as it came from outside, before any middleware; nil for one that followed from another.
  package var input: SyncEvent?
  /// What was reduced.
  package var record: EventRecord
  /// What is done because of it, in order.
  package var effects: ObservedEffects
  /// The state after it.
  package var state: SyncState
}

/// What is done because of an event; it is put into records only if somebody wants to read them.
package struct ObservedEffects: Sendable {
  let effects: [Effect]

  /// The effects as the event log has them, in the state after their event.
  package func records(in state: SyncState) -> [EffectRecord] {
    if effects.isEmpty { return [] }
    var records: [EffectRecord] = []
    records.reserveCapacity(effects.count)
    for effect in effects {
      if let record = effect.record(in: state) { records.append(record) }
    }
    return records
  }
}

extension Effect {
  /// The effect as the event log has it; events that follow are no effects there.
  func record(in state: SyncState) -> EffectRecord? {
    switch self {
    case .dispatch, .submit: nil
    case .wake(let time): .wake(time)
    case .callHandler: Self.callRecord(in: state)
    case .cancelHandler(let attempt): .cancel(attempt)
    case .publish(let publication): .publish(publication)
    case .announce(let numbers):
      .announce(first: numbers.lowerBound, count: UInt64(numbers.count))
    case .askAccount: .askAccount
    case .closeSharedGate(let wait): .closeSharedGate(wait)
    }
  }

  private static func callRecord(in state: SyncState) -> EffectRecord? {
    guard let work = state.currentWork, let request = state.currentContext else { return nil }
    var digest = SkeletonDigest()
    work.write(to: &digest)
    request.writeToken.write(to: &digest)
    request.deadline.write(to: &digest)
    return .call(
      request.attempt,
      work.mode,
      itemCount: work.itemCount,
      digest: digest.value
    )
  }
}

extension SyncWork {
  /// How many records it saves, deletes or looks up.
  var itemCount: Int {
    switch self {
    case .createZone, .createSubscription: 0
    case .modify(let operation): operation.records.count + operation.recordIDsToDelete.count
    case .fetch(let operation): operation.recordIDs.count
    }
  }
}

extension CloudSyncSession {
  /// Tells an observer everything from the next input on.
  package func attach(_ observer: any SessionObserver) {
    inbox.post(.observer(observer, isAttached: true))
  }

  /// Tells an observer nothing more.
  package func detach(_ observer: any SessionObserver) {
    inbox.post(.observer(observer, isAttached: false))
  }
}
