extension SyncState {
  /// The longest wait that a server may ask for: after that it is asked again.
  static let longestServerWait: Int64 = 86_400_000_000_000

  /// Moves deadlines that a clock set back has pushed away.
  mutating func clampDeadlines(at now: Timestamp) {
    guard hasDistantDeadline(at: now) else { return }
    gate.own?.clamp(at: now)
    gate.servers?.clamp(at: now)
    flight?.deadline.clamp(at: now)
    parked.quota?.clamp(at: now)
    parked.clampProbes(at: now)
    account.check?.clamp(at: now)
    account.nextTry?.clamp(at: now)
    fetch.awaited?.nextOffer?.clamp(at: now)
  }

  /// Whether a clock that was set back has pushed a deadline away.
  package func hasDistantDeadline(at now: Timestamp) -> Bool {
    isDistant(gate.own, at: now) || isDistant(gate.servers, at: now)
      || isDistant(flight?.deadline, at: now) || isDistant(parked.quota, at: now)
      || isDistant(account.check, at: now) || isDistant(account.nextTry, at: now)
      || isDistant(fetch.awaited?.nextOffer, at: now)
      || parked.probesSetAt.map { $0 > now } ?? false
  }

  private func isDistant(_ deadline: Deadline?, at now: Timestamp) -> Bool {
    deadline.map { $0.end(at: now) < $0.until } ?? false
  }

  /// How long to wait for a cause that has struck once more: growing, jittered, capped, and never
  /// less than what the server asked for.
  ///
  /// Everything is integer arithmetic, and the jitter is a function of the epoch's nonce, the
  /// attempt and the cause, so that a replay waits just as long.
  package func waitLength(for wait: Wait) -> Int64 {
    waitLength(for: wait, retries: gate.retries[wait.cause], place: nextAttempt)
  }

  /// The same for a number of retries; `place` tells waits of one cause apart.
  func waitLength(for wait: Wait, retries: Int, place: UInt64) -> Int64 {
    let cap = configuration.longestWait.clampedNanoseconds
    let place = place &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(wait.cause.rawValue + 1)
    let jitter = SplitMix64.first(of: nonce ^ place)
    guard let asked = wait.serverNanoseconds, asked > 0 else {
      let full = Self.doubled(
        base: configuration.firstWait.clampedNanoseconds,
        times: retries,
        cap: cap
      )
      // Between half and all of it: devices that failed together do not return together.
      return max(1, full / 2 + Int64(jitter % UInt64(max(1, full - full / 2 + 1))))
    }
    let floor = min(asked, Self.longestServerWait)
    // A server that repeats the same wait is asked less and less often.
    let grown = max(floor, Self.doubled(base: floor, times: retries, cap: max(cap, floor)))
    let extra = Int64(jitter % UInt64(grown / 8 + 1))
    return min(grown.addingReportingOverflow(extra).partialValue, Self.longestServerWait)
  }

  private static func doubled(base: Int64, times: Int, cap: Int64) -> Int64 {
    var value = min(max(1, base), cap)
    var left = times
    while left > 0, value < cap {
      value = value > cap / 2 ? cap : value * 2
      left -= 1
    }
    return max(1, min(value, cap))
  }

  /// Closes the gate for every kind of work; a gate that is closed for longer stays so.
  @discardableResult
  mutating func closeGate(_ wait: Wait, at now: Timestamp) -> Bool {
    let length = max(1, wait.nanoseconds ?? waitLength(for: wait))
    gate.retries[wait.cause] += 1
    gate.cause = wait.cause
    let deadline = Deadline(from: now, nanoseconds: length)
    if wait.serverNanoseconds != nil {
      if deadline.until > gate.servers?.until ?? now { gate.servers = deadline }
    } else if deadline.until > gate.own?.until ?? now {
      gate.own = deadline
    }
    return true
  }

  /// Notes that the cloud has carried out a request, at least in part.
  mutating func heardFromCloud() {
    resetRetryCounters()
    answered += 1
  }

  /// Begins waits afresh, after something went well; whether storage is free, and whether the app
  /// can store a page, is told by nothing else.
  mutating func resetRetryCounters() {
    if gate.hasRetries {
      var kept = RetryCounters()
      kept[.quota] = gate.retries[.quota]
      kept[.storage] = gate.retries[.storage]
      gate.retries = kept
    }
    if cold.value.hasLastError { cold.value.lastError = nil }
  }

  /// What the timer brings about: deadlines that have passed.
  mutating func reduceWoke(at now: Timestamp) -> Bool {
    var didChange = false
    if let offer = fetch.awaited?.nextOffer, offer.isPassed(at: now) {
      offerPageAgain()
      didChange = true
    }
    if let nextTry = account.nextTry, nextTry.isPassed(at: now) {
      account.nextTry = nil
      if account.hasProvider { askAboutAccount(isUrgent: true) } else { trustAccount() }
      didChange = true
    }
    if let check = account.check, check.isPassed(at: now) {
      account.check = nil
      account.isCheckDue = true
      didChange = true
    }
    if probeQuota(at: now) { didChange = true }
    if let deadline = gate.own, deadline.isPassed(at: now) {
      gate.own = nil
      didChange = true
    }
    if let deadline = gate.servers, deadline.isPassed(at: now) {
      gate.servers = nil
      didChange = true
    }
    return didChange
  }
}
