#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The part of a session that only its executor touches: it takes inputs one by one and runs every
/// event that follows from one through the chain before the next is taken.
final class Engine {
  /// An event that waits for its turn.
  private struct Pending {
    var event: SyncEvent
    var origin: EventRecord.Origin
    var cause: UInt64?
  }

  let context: MiddlewareContext
  private var chain: [any Middleware]
  private var pending: [Pending] = []
  private var reducedEvent = SyncEvent.noop
  var journal: (@Sendable (Data) -> Void)?
  /// When the timer is set to fire.
  var armed: Timestamp?
  /// The event that caused the timer to be set.
  var armedBy: UInt64?
  var waiters: [Waiter] = []
  /// The number of the provider's present check.
  var accountCheck: UInt64 = 0

  init(state: SyncState, chain: [any Middleware], now: Timestamp) {
    context = MiddlewareContext(state: state, now: now)
    self.chain = chain
  }

  /// Runs an event, and all that follows from it.
  func run(
    _ event: SyncEvent,
    origin: EventRecord.Origin,
    cause: UInt64?,
    in session: CloudSyncSession
  ) {
    runOne(Pending(event: event, origin: origin, cause: cause), in: session)
    var next = 0
    while next < pending.count {
      let one = pending[next]
      next += 1
      context.pendingEvents = pending.count - next
      runOne(one, in: session)
    }
    pending.removeAll(keepingCapacity: true)
    context.pendingEvents = 0
  }

  private func runOne(_ one: Pending, in session: CloudSyncSession) {
    context.origin = one.origin
    context.cause = one.cause
    context.isReduced = false
    context.didChange = false
    _ = pass(one.event, from: 0)
    let sequence = context.state.eventCount
    checkInvariants(sequence)
    if context.didChange { session.stateDidChange(context.state, by: reducedEvent) }
    let record = EventRecord(
      sequence: sequence,
      time: context.now,
      cause: one.cause,
      origin: one.origin,
      event: reducedEvent,
      decisions: context.decisions
    )
    if let journal { journal(SyncArchive.frame(of: record)) }
    if !context.decisions.isEmpty { context.decisions.removeAll() }
    performEffects(after: record, in: session)
  }

  /// Passes an event through the rest of the chain, and reduces it at its end.
  private func pass(_ event: SyncEvent, from index: Int) -> SyncEvent {
    guard index < chain.count else {
      context.didChange = context.state.reduce(event, at: context.now)
      context.isReduced = true
      reducedEvent = event
      return event
    }
    var calls = 0
    let result = chain[index]
      .run(event: event, context: context) { passed in
        calls += 1
        return pass(passed, from: index + 1)
      }
    precondition(
      calls == 1,
      "The middleware \(chain[index].name) called next \(calls) times: call it exactly once."
    )
    return result
  }

  private func checkInvariants(_ sequence: UInt64) {
    #if DEBUG
    let level: SyncState.InvariantLevel = sequence % 256 == 0 ? .all : .cheap
    if let broken = context.state.brokenInvariant(level) {
      preconditionFailure("Event \(sequence), \(reducedEvent.line), broke the state: \(broken).")
    }
    #endif
  }

  private func performEffects(after record: EventRecord, in session: CloudSyncSession) {
    guard !context.effects.isEmpty else { return }
    let effects = context.effects
    context.effects.removeAll(keepingCapacity: true)
    for effect in effects {
      switch effect {
      case .dispatch(let event):
        pending.append(Pending(event: event, origin: .middleware, cause: record.sequence))
      case .wake(let time): arm(time, because: record.sequence, in: session)
      case .publish(let publication):
        session.publish(publication, record: record, state: context.state)
      case .callHandler: callHandler(in: session)
      case .cancelHandler(let attempt): session.handler.cancel(attempt)
      case .askAccount(let provider):
        accountCheck = record.sequence
        session.ask(provider, check: record.sequence)
      case .closeSharedGate(let wait): session.closeSharedGate(wait)
      }
    }
  }

  private func callHandler(in session: CloudSyncSession) {
    guard let work = context.state.currentWork, let request = context.state.currentContext else {
      return
    }
    session.call(work, request)
  }

  /// Sets the timer, unless it fires early enough already.
  func arm(_ time: Timestamp, because sequence: UInt64?, in session: CloudSyncSession) {
    if let armed, armed <= time { return }
    armed = time
    armedBy = sequence
    session.timer?.schedule(after: max(0, context.now.distance(to: time)))
  }

  /// Puts a middleware where it is wanted; at the end if there is none of the name.
  func attach(_ middleware: any Middleware, at position: MiddlewarePosition) {
    precondition(
      !chain.contains { $0.name == middleware.name },
      "There is a middleware named \(middleware.name) already: give the new one another name."
    )
    switch position {
    case .end: chain.append(middleware)
    case .before(let name): chain.insert(middleware, at: place(of: name))
    case .after(let name): chain.insert(middleware, at: place(of: name) + 1)
    }
  }

  private func place(of name: String) -> Int {
    let place = chain.firstIndex { $0.name == name }
    precondition(place != nil, "There is no middleware named \(name).")
    return place ?? chain.endIndex
  }

  /// Tells the waiters whose wish is fulfilled, or whose time is over.
  func serveWaiters(in session: CloudSyncSession) {
    guard !waiters.isEmpty else { return }
    var rest: [Waiter] = []
    for waiter in waiters {
      if waiter.isSatisfied(context.state) {
        waiter.resume(true)
      } else if let deadline = waiter.deadline, deadline <= context.now {
        waiter.resume(false)
      } else {
        if let deadline = waiter.deadline { arm(deadline, because: nil, in: session) }
        rest.append(waiter)
      }
    }
    waiters = rest
  }
}
