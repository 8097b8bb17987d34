/// What a middleware sees of a session while an event passes, and how it asks for effects.
///
/// Effects are carried out after the chain has returned, in the order in which they were asked for.
public final class MiddlewareContext {
  /// The state: before `next` returns the old one, after it the new one.
  @exclusivity(unchecked) public internal(set) var state: SyncState
  /// When the input that led to the event was taken.
  @exclusivity(unchecked) public internal(set) var now: Timestamp
  /// Where the event came from.
  @exclusivity(unchecked) public internal(set) var origin = EventRecord.Origin.call
  /// The number of the event that caused this one, if one did.
  @exclusivity(unchecked) public internal(set) var cause: UInt64?
  /// Whether the event has been reduced and changed the state.
  @exclusivity(unchecked) public internal(set) var didChange = false

  @exclusivity(unchecked) var isReduced = false
  /// The request that the event asks for, as it entered the chain.
  @exclusivity(unchecked) private var request: SyncRequest?
  /// How many middleware the event has passed.
  @exclusivity(unchecked) var depth = 0
  /// What the state wants next, once somebody has asked since it last changed.
  @exclusivity(unchecked) private var knownNextStep: NextStep?
  /// The name of the fetch that the event is, before any middleware has changed it.
  @exclusivity(unchecked) private var calledFetch: OperationID?
  /// Whether the event is that the account is asked about, before any middleware has changed it.
  @exclusivity(unchecked) private(set) var isCheckWanted = false
  /// What was reduced.
  @exclusivity(unchecked) var reducedEvent = SyncEvent.noop
  @exclusivity(unchecked) var effects: [Effect] = []
  @exclusivity(unchecked) var decisions: [Decision] = []
  /// Events that wait to be reduced after this one.
  @exclusivity(unchecked) var pendingEvents = 0
  /// Decisions to be used instead of asking the app's closures, in a re-run.
  var recordedDecisions: [Decision]?

  init(state: SyncState, now: Timestamp) {
    self.state = state
    self.now = now
  }

  func prepare(_ event: SyncEvent, origin: EventRecord.Origin, cause: UInt64?) {
    self.origin = origin
    self.cause = cause
    request = nil
    calledFetch = nil
    isCheckWanted = false
    switch event {
    case .startWork(let request), .retryWork(let request): self.request = request
    case .doWork(.fetch(let operation)): calledFetch = operation.id
    case .accountCheckStarted: isCheckWanted = true
    default: break
    }
    isReduced = false
    didChange = false
    depth = 0
    knownNextStep = nil
  }

  /// What the state wants next: worked out once an event, whoever asks.
  var nextStep: NextStep {
    if let knownNextStep { return knownNextStep }
    let step = state.next(at: now)
    if isReduced { knownNextStep = step }
    return step
  }

  /// The end of the chain.
  func reduce(event: SyncEvent) {
    precondition(!isReduced, "A middleware called next twice: call it exactly once.")
    didChange = state.reduce(event, at: now)
    isReduced = true
    reducedEvent = event
  }

  /// Whether a middleware has dropped this very request on the way to the reduction, or put something else in its place.
  ///
  /// It is made again when something else happens: at once would be for ever.
  func hasDropped(wanted: SyncRequest) -> Bool {
    guard let request else { return false }
    switch reducedEvent {
    case .startWork where didChange, .retryWork where didChange: return false
    default: break
    }
    return request.mode == wanted.mode && request.isLookup == wanted.isLookup
  }

  /// Whether the operation of a name has come into the state with this event.
  func hasTaken(_ id: OperationID) -> Bool {
    guard isReduced, didChange, case .doWork(let work) = reducedEvent else { return false }
    return work.operationID == id
  }

  /// Whether a middleware has the fetch of a name reduced after this event.
  func dispatches(_ id: OperationID) -> Bool {
    effects.contains { effect in
      if case .dispatch(.doWork(let work)) = effect { work.operationID == id } else { false }
    }
  }

  /// Whether no other event waits to be reduced before the next input is taken.
  public var isLastEvent: Bool { pendingEvents == 0 }

  /// Has an event reduced after this one, before the next input is taken.
  ///
  /// A modification, ``SyncEvent/doWork(_:)``, is submitted instead, as by a call of the session: it
  /// gets a name of its own, and its turn comes after the modifications that were called before. If
  /// it breaks a rule it ends as failed, with the code ``SyncError/Code/invalidArguments``. A fetch keeps a name that
  /// the session has given; another one would be somebody else's next.
  public func dispatch(_ event: SyncEvent) {
    var event = event
    switch event {
    case .doWork(.modify(let operation)): return ask(.submit(operation))
    case .doWork(.fetch(var operation))
    where operation.id != calledFetch && operation.id.number >= state.nextOperation:
      operation.id = .unassigned
      event = .doWork(.fetch(operation))
    default: break
    }
    ask(.dispatch(event))
    pendingEvents += 1
  }

  /// Has the session look again at a time, at the latest.
  public func wake(at time: Timestamp) { ask(.wake(time)) }

  /// Calls the handler with the request in flight.
  public func callHandler() { ask(.callHandler) }

  /// Tells the handler that a call is no longer waited for.
  public func cancelHandler(_ attempt: Attempt) { ask(.cancelHandler(attempt)) }

  /// Announces what has changed to the session's subscribers.
  public func publish(_ publication: Publication) { ask(.publish(publication)) }

  /// Delivers the announcements with these numbers.
  func announce(_ notes: Range<UInt64>) { ask(.announce(notes)) }

  /// Asks a provider about the account; its response comes in as an event.
  public func askAccount(_ provider: AccountStatusProvider) { ask(.askAccount(provider)) }

  /// Tells the other sessions that share this one's gate to wait.
  public func closeSharedGate(_ wait: Wait) { ask(.closeSharedGate(wait)) }

  /// Asks one of the app's closures, once, and records the response as an input.
  ///
  /// In a re-run of a log the recorded answer is returned and the closure is not called.
  public func decide(_ closure: () -> Decision) -> Decision {
    let decision: Decision
    if var recorded = recordedDecisions, !recorded.isEmpty {
      decision = recorded.removeFirst()
      recordedDecisions = recorded
    } else {
      decision = closure()
    }
    decisions.append(decision)
    return decision
  }

  /// Whether the cloud has already what is to be saved of a record, which is recorded like a decision.
  ///
  /// In a re-run of a log it is what was recorded, for the log may hide the values.
  func findsInCloud(_ recordID: RecordID, where compare: () -> Bool) -> Bool {
    guard var recorded = recordedDecisions else {
      let isThere = compare()
      if isThere { decisions.append(.alreadyInCloud(recordID)) }
      return isThere
    }
    guard case .alreadyInCloud(recordID)? = recorded.first else { return false }
    decisions.append(recorded.removeFirst())
    recordedDecisions = recorded
    return true
  }

  /// What a conflict of an edit is measured from, which is recorded like a decision where only values tell it.
  func ancestor(of entry: PendingChange, editing edit: Record, inCloud server: Record) -> Record? {
    guard entry.isMeasuredByValues else { return entry.ancestor(of: edit, inCloud: server) }
    guard var recorded = recordedDecisions else {
      let ancestor = entry.ancestor(of: edit, inCloud: server)
      if let ancestor { decisions.append(.ancestor(ancestor)) }
      return ancestor
    }
    guard case .ancestor(let record)? = recorded.first, record.recordID == entry.recordID else {
      return nil
    }
    decisions.append(recorded.removeFirst())
    recordedDecisions = recorded
    return record
  }

  private func ask(_ effect: Effect) {
    precondition(
      isReduced,
      "A middleware may ask for effects only after next(event) has returned: move the call below it."
    )
    effects.append(effect)
  }
}

/// Something to be done after an event has passed the chain.
enum Effect: Sendable {
  case dispatch(SyncEvent)
  case submit(ModifyOperation)
  case wake(Timestamp)
  case callHandler
  case cancelHandler(Attempt)
  case publish(Publication)
  case announce(Range<UInt64>)
  case askAccount(AccountStatusProvider)
  indirect case closeSharedGate(Wait)
}
