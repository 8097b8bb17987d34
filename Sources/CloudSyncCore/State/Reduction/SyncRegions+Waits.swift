extension SyncRegions {
  /// Moves deadlines that a clock set back has pushed away.
  mutating func clampDeadlines(at now: Timestamp) {
    guard hasDistantDeadline(at: now) else { return }
    gate.clamp(at: now)
    flight?.deadline.clamp(at: now)
    parked.quota?.clamp(at: now)
    parked.clampProbes(at: now)
    account.clamp(at: now)
    fetch.awaited?.nextOffer?.clamp(at: now)
  }

  /// Whether a clock that was set back has pushed a deadline away.
  func hasDistantDeadline(at now: Timestamp) -> Bool {
    // Asked before every event: each is read by itself, so that no region is copied for it.
    isDistant(gate.own, at: now) || isDistant(gate.servers, at: now)
      || isDistant(flight?.deadline, at: now) || isDistant(parked.quota, at: now)
      || isDistant(account.check, at: now) || isDistant(account.nextTry, at: now)
      || isDistant(fetch.awaited?.nextOffer, at: now)
      || parked.probesSetAt.map { $0 > now } ?? false
  }

  private func isDistant(_ deadline: Deadline?, at now: Timestamp) -> Bool {
    deadline.map { $0.end(at: now) < $0.until } ?? false
  }

  /// How long waits are in this epoch.
  var backoff: Backoff { Backoff(nonce: nonce, configuration: configuration) }

  /// How long to wait for a cause that has struck once more.
  func waitLength(for wait: Wait) -> Int64 {
    backoff.length(of: wait, retries: gate.retries[wait.cause], place: nextAttempt)
  }

  /// Closes the gate for every kind of work; a gate that is closed for longer stays so.
  @discardableResult
  mutating func closeGate(for wait: Wait, at now: Timestamp) -> Bool {
    let length = max(1, wait.nanoseconds ?? waitLength(for: wait))
    gate.close(for: wait, length: length, at: now)
    return true
  }

  /// Notes that the cloud has carried out a request, at least in part.
  mutating func heardFromCloud() {
    resetRetryCounters()
    answered += 1
  }

  /// Begins waits afresh, after something went well.
  mutating func resetRetryCounters() {
    if gate.hasRetries { gate.resetRetries() }
    if cold.value.hasLastError { cold.value.lastError = nil }
  }

  /// What the timer brings about: deadlines that have passed.
  mutating func reduceWoke(at now: Timestamp) -> Bool {
    var didChange = false
    if let offer = fetch.awaited?.nextOffer, offer.isPassed(at: now) {
      offerPageAgain()
      didChange = true
    }
    if account.wake(at: now) { didChange = true }
    if probeQuota(at: now) { didChange = true }
    if gate.open(at: now) { didChange = true }
    return didChange
  }
}
