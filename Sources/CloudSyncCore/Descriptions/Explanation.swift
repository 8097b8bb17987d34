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

extension SyncState {
  /// Explains in words and as a value why the session is or is not working at a time.
  public func explain(at now: Timestamp) -> Explanation {
    var reasons: WaitReasons = []
    var nextTry: Timestamp?
    if case .wait(let first, let until) = next(at: now) {
      reasons = first
      nextTry = until
    }
    // All that stands in the way, not only the first of it.
    if case .created = phase { reasons.insert(.notStarted) }
    if isHalted { reasons.insert(.stopped) }
    switch account.status {
    case .noProvider, .ready: break
    case .asking: reasons.insert(.accountUnknown)
    case .away: reasons.insert(.accountAway)
    case .switched: reasons.insert(.accountSwitched)
    }
    if let opening = gate.opening(at: now) {
      reasons.insert(.gate)
      nextTry = max(nextTry ?? opening, opening)
    }
    switch zone.zone {
    case .lost, .refused: reasons.insert(.zone)
    case .unknown, .creating, .ready: break
    }
    if fetch.awaited != nil { reasons.insert(.acknowledgement) }
    if parked.quota != nil { reasons.insert(.quota) }
    let waiting = modify.open.count + modify.queue.count
    return Explanation(
      operationMode: operationMode,
      reasons: reasons,
      nextTry: nextTry,
      error: haltReason?.error ?? lastRetryError,
      waitingOperations: waiting,
      parkedRecords: parked.entries.count,
      description: words(for: reasons, until: nextTry, at: now)
    )
  }

  private func words(
    for reasons: WaitReasons,
    until nextTry: Timestamp?,
    at now: Timestamp
  ) -> String {
    func delay(until end: Timestamp) -> String {
      "in \(Phrase.duration(max(0, now.distance(to: end)), decimals: 1))"
    }
    var parts: [String] = []
    if let flight {
      let end = flight.deadline.end(at: now)
      let name = StateDescription.text(of: flight)
      parts.append("Waiting for the response to \(name); it times out \(delay(until: end))")
    }
    if reasons.isEmpty { parts.append("About to send a request") }
    parts += obstacles(in: reasons)
    if reasons.contains(.gate) {
      parts.append("Waiting to retry (\(StateDescription.text(of: gate.cause)))")
    }
    if reasons == .idle { parts.append("Nothing to do") }
    if let nextTry, flight == nil, let last = parts.popLast() {
      // Behind a gate something else may stand in the way even then.
      let (what, limit) =
        reasons.contains(.gate)
        ? ("attempt", reasons == .gate ? "" : " at the earliest") : ("check", "")
      parts.append("\(last); next \(what) \(delay(until: nextTry))\(limit)")
    }
    if !parked.entries.isEmpty {
      parts.append("\(Phrase.count(parked.entries.count, "record")) could not be saved")
    }
    return parts.joined(separator: ". ") + "."
  }

  /// What does not pass with time alone, each with what ends it.
  private func obstacles(in reasons: WaitReasons) -> [String] {
    var parts: [String] = []
    if reasons.contains(.notStarted) { parts.append("Waiting for start()") }
    if let reason = haltReason {
      // That stop() was called needs no words.
      let error = reason.error.code == .stopped ? "" : " (\(reason.error))"
      parts.append("Stopped\(error); call start() to continue")
    }
    if reasons.contains(.accountUnknown) { parts.append("Waiting for the account's status") }
    if case .away(let trouble) = account.status {
      parts.append("Waiting for the account (\(trouble))")
    }
    if reasons.contains(.accountSwitched) {
      parts.append("Another account signed in; call resolveAccountSwitch(_:)")
    }
    if case .lost(let loss) = zone.zone {
      parts.append("The zone was lost (\(loss)); call decideZone(_:)")
    }
    if case .refused(let error) = zone.zone { parts.append("The zone was rejected (\(error))") }
    if reasons.contains(.acknowledgement) {
      parts.append("Waiting for acknowledge(_:_:) of a fetched page")
    }
    if reasons.contains(.quota) { parts.append("The storage is full; saves are parked") }
    return parts
  }
}
