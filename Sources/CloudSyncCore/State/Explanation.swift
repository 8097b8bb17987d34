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
    var parts: [String] = []
    if let mode = operationMode { parts.append("A \(mode) request is in flight") }
    if reasons.isEmpty { parts.append("A request is about to be made") }
    if reasons.contains(.notStarted) { parts.append("The session waits for start()") }
    if let reason = haltReason {
      parts.append("The session is stopped (\(reason.error)); start() goes on")
    }
    if reasons.contains(.accountUnknown) { parts.append("The account's status is not known yet") }
    if case .away(let trouble) = account.status {
      parts.append("The account cannot be used (\(trouble))")
    }
    if reasons.contains(.accountSwitched) {
      parts.append("Another account signed in; call resolveAccountSwitch(_:)")
    }
    if reasons.contains(.gate) { parts.append("The session pauses (\(gate.cause))") }
    if case .lost(let loss) = zone.zone {
      parts.append("The zone is lost (\(loss)); call decideZone(_:)")
    }
    if case .refused(let error) = zone.zone { parts.append("The zone was refused (\(error))") }
    if reasons.contains(.acknowledgement) {
      parts.append("A fetched page waits for acknowledge(_:_:)")
    }
    if reasons.contains(.quota) { parts.append("The storage is full; saves are parked") }
    if reasons == .idle { parts.append("There is nothing to do") }
    if !parked.entries.isEmpty { parts.append("\(parked.entries.count) records are parked") }
    if let nextTry {
      let seconds = max(0, now.distance(to: nextTry)) / 1_000_000_000
      parts.append("The next look is in \(seconds) s")
    }
    return parts.joined(separator: ". ") + "."
  }
}
