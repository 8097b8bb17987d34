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
  private var middlewares: [any Middleware]
  /// Runs an event through the chain, and reduces it at its end.
  @exclusivity(unchecked) private var chain: (SyncEvent) -> SyncEvent = { $0 }
  @exclusivity(unchecked) private var pending: [Pending] = []
  /// Effects that are being performed, in memory that is used again and again.
  @exclusivity(unchecked) private var performing: [Effect] = []
  /// Inputs that are being taken, likewise.
  @exclusivity(unchecked) var taking: [SessionInput] = []
  @exclusivity(unchecked) var journal: (@Sendable (Data) -> Void)?
  /// When the timer is set to fire.
  @exclusivity(unchecked) var armed: Timestamp?
  /// Whether the timer that is set waits for nothing.
  @exclusivity(unchecked) private var firesAtOnce = false
  /// The event that caused the timer to be set.
  @exclusivity(unchecked) var armedBy: UInt64?
  /// Who is told everything.
  @exclusivity(unchecked) var observers: [any SessionObserver] = []
  @exclusivity(unchecked) var waiters: [Waiter] = []
  /// Whether a state that contradicts itself is a bug, as in any session; a log may be damaged.
  var checksInvariants = true
  /// The number of the provider's present check.
  var accountCheck: UInt64 = 0

  init(state: SyncState, chain: [any Middleware], now: Timestamp) {
    context = MiddlewareContext(state: state, now: now)
    middlewares = chain
    linkChain()
  }

  /// Links the chain: the reduction, and before it the middleware from the last to the first.
  private func linkChain() {
    let context = context
    var next: (SyncEvent) -> SyncEvent = { event in
      context.reduce(event: event)
      return event
    }
    for (place, middleware) in middlewares.enumerated().reversed() {
      let link = ChainLink(middleware, context, next: next)
      next = { event in link.run(event, at: place) }
    }
    chain = next
  }

  /// Runs an event, and all that follows from it.
  func run(
    _ event: SyncEvent,
    origin: EventRecord.Origin,
    cause: UInt64?,
    in session: CloudSyncSession
  ) {
    runOne(one: Pending(event: event, origin: origin, cause: cause), isInput: true, in: session)
    var next = 0
    while next < pending.count {
      let one = pending[next]
      next += 1
      context.pendingEvents = pending.count - next
      runOne(one: one, isInput: false, in: session)
    }
    pending.removeAll(keepingCapacity: true)
    context.pendingEvents = 0
  }

  private func runOne(one: Pending, isInput: Bool, in session: CloudSyncSession) {
    context.prepare(one.event, origin: one.origin, cause: one.cause)
    _ = chain(one.event)
    let sequence = context.state.eventCount
    checkInvariants(sequence: sequence)
    if context.didChange { session.stateDidChange(state: context.state, by: context.reducedEvent) }
    if let journal { journal(SyncArchive.frame(of: record)) }
    if !observers.isEmpty { observe(isInput ? one.event : nil) }
    performEffects(in: session)
    if !context.decisions.isEmpty { context.decisions.removeAll() }
  }

  /// The event that was just reduced, as a record.
  var record: EventRecord {
    EventRecord(
      sequence: context.state.eventCount,
      time: context.now,
      cause: context.cause,
      origin: context.origin,
      event: context.reducedEvent,
      decisions: context.decisions
    )
  }

  private func observe(_ input: SyncEvent?) {
    let step = ObservedStep(
      input: input,
      record: record,
      effects: ObservedEffects(effects: context.effects),
      state: context.state
    )
    for observer in observers { observer.observe(step) }
  }

  /// Begins or ends an observation.
  func observe(_ observer: any SessionObserver, isAttached: Bool) {
    if isAttached {
      guard !observers.contains(where: { $0 === observer }) else { return }
      observers.append(observer)
      observer.begin(context.state, middleware: middlewares.map(\.name), at: context.now)
    } else if let place = observers.firstIndex(where: { $0 === observer }) {
      observers.remove(at: place)
      observer.end(context.state)
    }
  }

  private func checkInvariants(sequence: UInt64) {
    #if DEBUG
    guard checksInvariants else { return }
    let level: SyncState.InvariantLevel = sequence % 256 == 0 ? .all : .cheap
    if let broken = context.state.brokenInvariant(level) {
      preconditionFailure(
        "Event \(sequence), \(context.reducedEvent.name), broke the state: \(broken)."
      )
    }
    #endif
  }

  private func performEffects(in session: CloudSyncSession) {
    guard !context.effects.isEmpty else { return }
    swap(&performing, &context.effects)
    let sequence = context.state.eventCount
    for effect in performing {
      switch effect {
      case .dispatch(let event):
        pending.append(Pending(event: event, origin: .middleware, cause: sequence))
      case .wake(let time): arm(time: time, because: sequence, in: session)
      case .publish(let publication): session.publish(publication, engine: self)
      case .announce(let numbers): session.announce(numbers, engine: self)
      case .callHandler: callHandler(in: session)
      case .cancelHandler(let attempt): session.handler.cancel(attempt)
      case .askAccount(let provider):
        accountCheck = sequence
        session.ask(provider, check: sequence)
      case .closeSharedGate(let wait): session.closeSharedGate(wait: wait, at: context.now)
      }
    }
    performing.removeAll(keepingCapacity: true)
  }

  private func callHandler(in session: CloudSyncSession) {
    guard let work = context.state.currentWork, let request = context.state.currentContext else {
      return
    }
    session.call(work, request: request)
  }

  /// Sets the timer, unless it fires early enough already.
  func arm(time: Timestamp, because sequence: UInt64?, in session: CloudSyncSession) {
    if let armed {
      // It fires as soon as it can: setting it again would take back what is on its way.
      if firesAtOnce { return }
      // A clock that was set forward leaves a timer behind that should have fired and has not.
      if armed <= time, armed > context.now { return }
    }
    let delay = max(0, context.now.distance(to: time))
    armed = time
    armedBy = sequence
    firesAtOnce = delay == 0
    session.timer?.schedule(after: delay)
  }

  /// Puts a middleware where it is wanted.
  func attach(_ middleware: any Middleware, at position: MiddlewarePosition) {
    precondition(
      !middlewares.contains { $0.name == middleware.name },
      "There is a middleware named \(middleware.name) already: give the new one another name."
    )
    switch position {
    case .first: middlewares.insert(middleware, at: 0)
    case .end: middlewares.append(middleware)
    case .before(let name): middlewares.insert(middleware, at: place(of: name))
    case .after(let name): middlewares.insert(middleware, at: place(of: name) + 1)
    }
    linkChain()
    guard !observers.isEmpty else { return }
    let names = middlewares.map(\.name)
    for observer in observers {
      observer.chainDidChange(names, after: context.state.eventCount, at: context.now)
    }
  }

  private func place(of name: String) -> Int {
    let place = middlewares.firstIndex { $0.name == name }
    precondition(place != nil, "There is no middleware named \(name).")
    return place ?? middlewares.endIndex
  }

  /// Tells the waiters whose wish is fulfilled, or whose time is over.
  func serveWaiters(in session: CloudSyncSession) {
    guard !waiters.isEmpty else { return }
    let now = context.now
    let wake = context.state.wakeTime(at: now)
    var rest: [Waiter] = []
    for var waiter in waiters {
      waiter.deadline.clamp(at: now)
      if waiter.isSatisfied(context.state) {
        waiter.resume(true)
      } else if context.state.isHalted || waiter.deadline.isPassed(at: now) {
        waiter.resume(false)
      } else {
        // A timer that is due and has not fired yet must not be put off for the waiter.
        if let wake, wake <= waiter.deadline.until {
          arm(time: wake, because: armedBy, in: session)
        } else {
          arm(time: waiter.deadline.until, because: nil, in: session)
        }
        rest.append(waiter)
      }
    }
    waiters = rest
  }
}
