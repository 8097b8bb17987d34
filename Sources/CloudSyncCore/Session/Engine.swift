#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The owner of a session's input loop: it takes what is in the inbox one by one, and runs every event
/// that follows from an input through the chain, with all its effects, before the next is taken.
///
/// Only the session's executor touches it, under the lock that it lies behind.
final class Engine {
  /// An event that waits for its turn.
  private struct Pending {
    var event: SyncEvent
    var origin: EventRecord.Origin
    var cause: UInt64?
  }

  let context: MiddlewareContext
  let inbox: Inbox
  private let outputs: SessionOutputs
  private let now: @Sendable () -> Timestamp
  private var middlewares: [any Middleware]
  /// The chain, which reduces an event at its end; nil if there is no middleware.
  @exclusivity(unchecked) private var chain: ChainLink?
  @exclusivity(unchecked) private var pending: [Pending] = []
  /// Inputs that are being taken, likewise.
  @exclusivity(unchecked) private var taking: [SessionInput] = []
  @exclusivity(unchecked) var journal: (@Sendable (Data) -> Void)?
  /// When the timer is set to fire.
  @exclusivity(unchecked) var armed: Timestamp?
  /// What the timer was set for last that was due already, and how often in a row.
  @exclusivity(unchecked) private var overdue: (time: Timestamp, count: Int) = (.distantPast, 0)
  private static let mostOverdue = 16
  private static let longestOverdue: Int64 = 1_000_000_000
  /// Whether the timer that is set waits for nothing.
  @exclusivity(unchecked) private var firesAtOnce = false
  /// The event that caused the timer to be set.
  @exclusivity(unchecked) var armedBy: UInt64?
  /// Who is told everything.
  @exclusivity(unchecked) var observers: [any SessionObserver] = []
  @exclusivity(unchecked) var waiters = WaiterList()
  /// Who wants to know that the modification which is being taken is in the state.
  @exclusivity(unchecked) var accepted: (@Sendable (ModifyOperation) -> Void)?
  /// Whether a state that contradicts itself is a bug, as in any session; a log may be damaged.
  var checksInvariants = true
  /// Whether the chain has more than it began with: nothing else drops a call.
  @exclusivity(unchecked) var mayDrop = false
  /// Whether nobody has the session any more: nothing is taken from then on.
  @exclusivity(unchecked) var hasEnded = false
  /// Up to where deliveries were to be noted that a middleware has dropped; 0 if it has not.
  private var droppedDelivery: UInt64 = 0
  /// The number of the provider's present check.
  var accountCheck: UInt64 = 0

  init(
    state: SyncState,
    chain: [any Middleware],
    inbox: Inbox,
    outputs: SessionOutputs,
    now: @escaping @Sendable () -> Timestamp
  ) {
    context = MiddlewareContext(state: state, now: now())
    middlewares = chain
    self.inbox = inbox
    self.outputs = outputs
    self.now = now
    linkChain()
  }

  deinit {
    if let flight = context.state.flight { outputs.handler.cancel(flight.attempt) }
    for observer in observers { observer.end(context.state) }
  }

  // MARK: The loop

  /// Takes inputs until there are none: only the executor calls it, never twice at once.
  func drain() {
    while true {
      let isBusy = journal == nil && context.state.hasWorkQueued
      let first = max(context.state.notifications.first, droppedDelivery)
      let delivered = inbox.moveInputs(into: &taking, first: first, isBusy: isBusy)
      if taking.isEmpty, delivered == nil { return }
      if let delivered { process(delivered: delivered) }
      // From the end of the reversed array each is moved out, and its memory is used again.
      if taking.count > 1 { taking.reverse() }
      while !hasEnded, let input = taking.popLast() { process(input) }
      if hasEnded { return taking.removeAll() }
    }
  }

  /// Ends what was called and a middleware has dropped, or put another in the place of, on its way to the state.
  private func endDropped(_ event: SyncEvent, isInput: Bool) {
    switch event {
    case .doWork(let work):
      // What a middleware has dispatched without a name is nobody's call.
      guard let id = work.operationID, isInput || id != .unassigned, !context.hasTaken(id),
        !context.dispatches(id)
      else { return }
      context.dispatch(.workDropped(work))
    case .workDropped(let work):
      // A middleware that drops this too keeps it out of state and log, and no more.
      if case .workDropped = context.reducedEvent, context.didChange { return }
      outputs.tellDropped(work)
    case .reset where isInput:
      if case .reset = context.reducedEvent, context.isReduced { return }
      inbox.resetWasDropped()
    default: break
    }
  }

  private func process(_ input: consuming SessionInput) {
    context.now = now()
    handle(input)
    serveWaiters()
  }

  func process(delivered number: UInt64) {
    context.now = now()
    run(.delivered(upTo: number), origin: .report)
    // One that a middleware drops is told with the next: at once would be for ever.
    if context.state.notifications.first < number { droppedDelivery = number }
    serveWaiters()
  }

  // MARK: The chain

  /// Links the chain: the reduction, and before it the middleware from the last to the first.
  private func linkChain() {
    chain = nil
    for (place, middleware) in middlewares.enumerated().reversed() {
      chain = ChainLink(middleware, context, at: place, next: chain)
    }
  }

  /// Runs an event, and all that follows from it.
  func run(_ event: SyncEvent, origin: EventRecord.Origin, cause: UInt64? = nil) {
    runOne(one: Pending(event: event, origin: origin, cause: cause), isInput: true)
    var next = 0
    while next < pending.count {
      // Moved out, because a copy of an event costs more.
      var one = Pending(event: .noop, origin: origin, cause: nil)
      swap(&one, &pending[next])
      next += 1
      context.pendingEvents = pending.count - next
      runOne(one: one, isInput: false)
    }
    // One by one, which costs a fraction of removing all of few; the memory is used again.
    while pending.popLast() != nil {}
    context.pendingEvents = 0
  }

  private func runOne(one: Pending, isInput: Bool) {
    context.prepare(one.event, origin: one.origin, cause: one.cause)
    if let chain { _ = chain.run(one.event) } else { context.reduce(event: one.event) }
    let sequence = context.state.eventCount
    checkInvariants(sequence: sequence)
    if context.didChange { showState() }
    if let journal { journal(SyncArchive.frame(of: record)) }
    if mayDrop { endDropped(one.event, isInput: isInput) }
    if !observers.isEmpty { observe(isInput ? one.event : nil) }
    if accepted != nil { announceAcceptance() }
    performEffects()
    if !context.decisions.isEmpty { context.decisions.removeAll() }
  }

  /// Shows the new state to other threads, and keeps the names of new operations in step with it.
  private func showState() {
    outputs.stateDidChange(to: context.state)
    switch context.reducedEvent {
    case .reset, .restored: inbox.epochDidChange(to: context.state.epoch, byReset: true)
    case .resolveAccountSwitch: inbox.epochDidChange(to: context.state.epoch, byReset: false)
    default: break
    }
  }

  /// Tells the app that its modification is in the state and the journal: before anything else that
  /// the event brings about, and not if a middleware has dropped it.
  private func announceAcceptance() {
    defer { accepted = nil }
    guard let accepted, context.didChange,
      case .doWork(.modify(let operation)) = context.reducedEvent
    else { return }
    outputs.callBack { accepted(operation) }
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
        "Event \(sequence), \(context.reducedEvent.line), broke the state: \(broken)."
      )
    }
    #endif
  }

  private func performEffects() {
    guard !context.effects.isEmpty else { return }
    var effects: [Effect] = []
    swap(&effects, &context.effects)
    let sequence = context.state.eventCount
    for place in effects.indices { perform(effects[place], because: sequence) }
    // Observers may keep the array: what is taken out of it would copy it.
    guard observers.isEmpty else { return }
    while effects.popLast() != nil {}
    // Its memory is used again.
    swap(&effects, &context.effects)
  }

  @inline(__always)
  private func perform(_ effect: Effect, because sequence: UInt64) {
    switch effect {
    case .dispatch(let event):
      pending.append(Pending(event: event, origin: .middleware, cause: sequence))
    case .submit(let operation): submit(dispatched: operation, cause: sequence)
    case .wake(let time): arm(time: time, because: sequence)
    case .publish(let publication):
      outputs.publish(publication, of: context.state) { record }
    case .announce(let numbers): outputs.announce(numbers, of: context.state)
    case .callHandler: callHandler()
    case .cancelHandler(let attempt): outputs.handler.cancel(attempt)
    case .askAccount(let provider):
      accountCheck = sequence
      outputs.ask(provider, check: sequence)
    case .closeSharedGate(let wait): outputs.closeSharedGate(wait: wait, at: context.now)
    }
  }

  private func callHandler() {
    guard let work = context.state.currentWork, let request = context.state.currentContext else {
      return
    }
    outputs.call(work, request: request)
  }

  /// Queues a modification that a middleware has dispatched behind everything called before: the
  /// names of those calls are given already.
  ///
  /// One that breaks a rule gets no name, and the reduction tells its failure.
  private func submit(dispatched operation: ModifyOperation, cause: UInt64) {
    let submission = try? Submission(
      operation,
      zoneID: context.state.zoneID,
      timestampUnit: outputs.timestampUnit
    )
    guard let submission else {
      return inbox.post(.dispatched(.doWork(.modify(operation.unnamed)), cause: cause))
    }
    inbox.submit { id in
      .dispatched(.doWork(.modify(submission.operation(named: id))), cause: cause)
    }
  }

  /// Has the timer fire at a time, or earlier.
  ///
  /// What it was set for and has not been told stays due, whatever it is set for next: nobody else remembers it.
  func arm(time: Timestamp, because sequence: UInt64?) {
    if let armed {
      // It fires as soon as it can: setting it again would take back what is on its way.
      if firesAtOnce { return }
      if armed <= context.now {
        // A clock that was set forward leaves a timer behind that should have fired and has not.
        firesAtOnce = true
        return outputs.timer.schedule(after: 0)
      }
      if armed <= time { return }
    }
    let pause = overduePause(of: time)
    let delay = max(pause, context.now.distance(to: time))
    armed = pause > 0 ? context.now.advanced(byNanoseconds: pause) : time
    armedBy = sequence
    firesAtOnce = delay == 0
    outputs.timer.schedule(after: delay)
  }

  /// How long at least the timer is set for: for something that stays due however often the state is woken, a while.
  ///
  /// So it is where a middleware drops what follows from it: at once would be for ever.
  private func overduePause(of time: Timestamp) -> Int64 {
    guard context.now.distance(to: time) <= 0 else { return 0 }
    if overdue.time == time { overdue.count += 1 } else { overdue = (time, 1) }
    return overdue.count > Self.mostOverdue ? Self.longestOverdue : 0
  }

  /// Sets the timer once more, so that it fires by a time.
  ///
  /// A clock that was set forward since it was set has made seem near what is further away.
  func armAnew(time: Timestamp) {
    if armed != nil, firesAtOnce { return }
    let former = armed
    armed = nil
    if let former, former <= time {
      arm(time: former, because: armedBy)
    } else {
      arm(time: time, because: nil)
    }
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
    mayDrop = true
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
}
