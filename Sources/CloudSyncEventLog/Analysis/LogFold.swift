import CloudSyncCore

/// Walks over a log once and keeps the state along the way.
///
/// What a request takes, and what its response means for which record, is told only by the states
/// before and after: this is where they are looked at.
struct LogFold {
  /// The state after the last event that was taken.
  private(set) var state: SyncState
  /// Whether the state is known: not after lines that are missing.
  private(set) var isKnown: Bool
  /// The last event whose state is known, if that is known.
  private let lastKnown: UInt64
  /// Whether the entries of requests are wanted.
  private let wantsEntries: Bool

  /// An event, and what its reduction did.
  struct Step {
    var step: LogStep
    /// Whether the state was known, so that the rest of this tells something.
    var isKnown = false
    /// Whether the event applied.
    var didApply = false
    /// The error with which the event stopped the session, if it did.
    var halt: SyncError?
    /// The request that ended with this event; it is answered if ``isAnswer``.
    var ended: Flight?
    /// Whether the event is the response to that request, or was made of its response.
    var isAnswer = false
    /// What the request had in it that ended.
    var endedEntries: [PendingChange] = []
    /// The fetches that the request was for that ended.
    var endedFetches: [FetchOperation] = []
    /// The request that was made.
    var made: Flight?
    /// What is in the request that was made.
    var madeEntries: [PendingChange] = []
    /// The fetches that the request was for that was made.
    var madeFetches: [FetchOperation] = []
    /// The announcements that were decided, the first one's number, and where the page got its.
    var notes: [SyncNotification] = []
    var firstNote: UInt64 = 0
    var page: UInt64 = 0

    var event: SyncEvent { step.record.event }
    var sequence: UInt64 { step.record.sequence }
    var time: Timestamp { step.record.time }
  }

  /// Walks over a log that has been opened.
  init(_ log: EventLog, wantsEntries: Bool = true) {
    state = log.header.state
    isKnown = true
    lastKnown = log.lastFoldedSequence
    self.wantsEntries = wantsEntries
  }

  /// Walks over a log as it is read.
  init(_ reader: LogReader, wantsEntries: Bool = true) {
    state = reader.header.state
    isKnown = !reader.isHeaderMissing
    lastKnown = .max
    self.wantsEntries = wantsEntries
  }

  /// Takes the next event.
  mutating func advance(step: LogStep) -> Step {
    var result = Step(step: step)
    isKnown = isKnown && step.sequence == state.eventCount + 1 && step.sequence <= lastKnown
    guard isKnown else { return result }
    result.isKnown = true
    let flight = state.flight
    if let flight, mayEnd(flight: flight, by: step.record.event) {
      result.isAnswer = flight.attempt == step.record.event.attempt
      if wantsEntries {
        result.endedEntries = state.requestedEntries
        result.endedFetches = fetches(of: flight)
      }
    }
    let end = state.notifications.end
    result.page = state.fetch.nextPage
    let wasHalted = state.isHalted
    result.didApply = state.reduce(step.record.event, at: step.record.time)
    if !wasHalted, state.isHalted { result.halt = state.haltReason?.error }
    result.step.halt = result.halt
    if let flight, state.flight?.attempt != flight.attempt { result.ended = flight }
    if result.ended == nil {
      (result.isAnswer, result.endedEntries, result.endedFetches) = (false, [], [])
    }
    if let made = state.flight, made.attempt != flight?.attempt {
      result.made = made
      if wantsEntries {
        result.madeEntries = state.requestedEntries
        result.madeFetches = fetches(of: made)
      }
    }
    if state.notifications.end > end {
      result.firstNote = max(end, state.notifications.first)
      for number in result.firstNote..<state.notifications.end {
        result.notes.append(state.notifications[number])
      }
    }
    return result
  }

  /// The fetches that a request in flight is for.
  private func fetches(of flight: Flight) -> [FetchOperation] {
    flight.mode == .fetch && !flight.isLookup
      ? Array(state.fetch.run?.operations ?? FetchQueue()) : []
  }

  /// Whether an event may end the request in flight.
  private func mayEnd(flight: Flight, by event: SyncEvent) -> Bool {
    if let attempt = event.attempt { return attempt == flight.attempt }
    switch event {
    case .reset, .restored, .cancel, .resolveAccountSwitch, .decideZone: return true
    default: return false
    }
  }
}

extension LogFold.Step {
  /// The errors that the response has for single records: of the response as it came in.
  var itemFailures: [ItemFailure] {
    switch step.inputEvent ?? event {
    case .workSuccess(_, .modify(let response)): response.failures
    case .workSuccess(_, .fetch(let response)): response.failures
    case .workFailure(_, let error): error.itemErrors
    default: []
    }
  }
}

extension EventLog {
  /// Calls a function with every event and what it did, until it returns false.
  func forEachFoldedStep(
    body: (LogFold.Step, SyncState) throws(LogError) -> Bool
  ) throws(LogError) {
    var fold = LogFold(self)
    try forEachStep { (step) throws(LogError) in try body(fold.advance(step: step), fold.state) }
  }
}
