/// Why a session is or is not working now, and when it will next try: ``CloudSyncSession/explain()``.
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
  /// What is in flight, if anything.
  public let operationMode: OperationMode?
  /// Why nothing is sent; empty when a request is about to be made.
  public let reasons: WaitReasons
  /// When the session looks again by itself, if time alone changes anything.
  public let nextTry: Timestamp?
  /// The error that the session waits or was stopped for.
  public let error: SyncError?
  /// Modifications that have not completed.
  public let waitingOperations: Int
  /// Records that were set aside.
  public let parkedRecords: Int
  /// The same in words.
  public let description: String
}

extension Explanation {
  /// Explains a state at a time.
  fileprivate init(of state: SyncState, at now: Timestamp) {
    var reasons: WaitReasons = []
    var nextTry: Timestamp?
    if case .wait(let first, let until) = state.next(at: now) {
      reasons = first
      nextTry = until
    }
    // All that stands in the way, not only the first of it.
    reasons.formUnion(Self.obstacles(in: state))
    if let opening = state.gate.opening(at: now) {
      reasons.insert(.gate)
      nextTry = max(nextTry ?? opening, opening)
    }
    self.reasons = reasons
    self.nextTry = nextTry
    operationMode = state.operationMode
    error = state.haltReason?.error ?? state.lastRetryError
    waitingOperations = state.modify.open.count + state.modify.queue.count
    parkedRecords = state.parked.entries.count
    description = Self.words(for: reasons, until: nextTry, in: state, at: now)
  }

  /// What does not pass with time alone.
  private static func obstacles(in state: SyncState) -> WaitReasons {
    var reasons: WaitReasons = []
    if case .created = state.phase { reasons.insert(.notStarted) }
    if state.isHalted { reasons.insert(.stopped) }
    switch state.account.status {
    case .noProvider, .ready: break
    case .asking: reasons.insert(.accountUnknown)
    case .away: reasons.insert(.accountAway)
    case .switched: reasons.insert(.accountSwitched)
    }
    switch state.zone.zone {
    case .lost, .refused: reasons.insert(.zone)
    case .unknown, .creating, .ready: break
    }
    if state.fetch.awaited != nil { reasons.insert(.acknowledgement) }
    if state.parked.quota != nil { reasons.insert(.quota) }
    return reasons
  }

  private static func words(
    for reasons: WaitReasons,
    until nextTry: Timestamp?,
    in state: SyncState,
    at now: Timestamp
  ) -> String {
    func delay(until end: Timestamp) -> String {
      "in \(Phrase.duration(max(0, now.distance(to: end)), decimals: 1))"
    }
    var parts: [String] = []
    if let flight = state.flight {
      let end = flight.deadline.end(at: now)
      let name = StateDescription.text(of: flight)
      parts.append("Waiting for the response to \(name); it times out \(delay(until: end))")
    }
    if reasons.isEmpty { parts.append("About to send a request") }
    parts += remedies(for: reasons, in: state)
    if reasons.contains(.gate) {
      parts.append("Waiting to retry (\(StateDescription.text(of: state.gate.cause)))")
    }
    if reasons == .idle { parts.append("Nothing to do") }
    if let nextTry, state.flight == nil, let last = parts.popLast() {
      // Behind a gate something else may stand in the way even then.
      let (what, limit) =
        reasons.contains(.gate)
        ? ("attempt", reasons == .gate ? "" : " at the earliest") : ("check", "")
      parts.append("\(last); next \(what) \(delay(until: nextTry))\(limit)")
    }
    if !state.parked.entries.isEmpty {
      parts.append("\(Phrase.count(state.parked.entries.count, "record")) could not be saved")
    }
    return parts.joined(separator: ". ") + "."
  }

  /// What does not pass with time alone, each with what ends it.
  private static func remedies(for reasons: WaitReasons, in state: SyncState) -> [String] {
    var parts: [String] = []
    if reasons.contains(.notStarted) { parts.append("Waiting for start()") }
    if let reason = state.haltReason {
      // That stop() was called needs no words.
      let error = reason.error.code == .stopped ? "" : " (\(reason.error))"
      parts.append("Stopped\(error); call start() to continue")
    }
    if reasons.contains(.accountUnknown) { parts.append("Waiting for the account's status") }
    if case .away(let trouble) = state.account.status {
      parts.append("Waiting for the account (\(trouble))")
    }
    if reasons.contains(.accountSwitched) {
      parts.append("Another account signed in; call resolveAccountSwitch(_:)")
    }
    if case .lost(let loss) = state.zone.zone {
      parts.append("The zone was lost (\(loss)); call decideZone(_:)")
    }
    if case .refused(let error) = state.zone.zone {
      parts.append("The zone was rejected (\(error))")
    }
    if reasons.contains(.acknowledgement) {
      parts.append("Waiting for acknowledge(_:_:) of a fetched page")
    }
    if reasons.contains(.quota) { parts.append("The storage is full; saves are parked") }
    return parts
  }
}

extension SyncState {
  /// Explains in words and as a value why the session is or is not working at a time.
  public func explain(at now: Timestamp) -> Explanation { Explanation(of: self, at: now) }
}
