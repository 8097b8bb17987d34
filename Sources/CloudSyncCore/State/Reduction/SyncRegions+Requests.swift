extension SyncRegions {
  /// Makes the request that is due, if the state wants it.
  mutating func reduceRequest(request: SyncRequest, at now: Timestamp) -> Bool {
    guard case .request(let wanted) = next(at: now), wanted.mode == request.mode,
      wanted.isLookup == request.isLookup
    else { return false }
    switch request.mode {
    case .createZone, .createSubscription:
      beginRequest(mode: request.mode, at: now)
    case .modify:
      let count = chooseBatch(limits: request.limits?.holdingOne ?? limits, at: now)
      announceCompleted()
      // Everything that was due may have been parked unsent, or have been empty.
      guard count > 0 else { return true }
      if modify.repeated == 0 {
        modify.writeToken = WriteToken(nonce: nonce, number: nextAttempt)
        modify.forgetPages(ofFirst: count)
      }
      beginRequest(mode: .modify, count: count, at: now)
    case .fetch where request.isLookup:
      let most = (request.limits?.holdingOne ?? limits).items
      beginRequest(mode: .fetch, isLookup: true, count: min(most, modify.lookups), at: now)
    case .fetch:
      fetch.beginRun(isZoneLost: zone.isLost)
      beginRequest(mode: .fetch, at: now)
    }
    return true
  }

  private mutating func beginRequest(
    mode: OperationMode,
    isLookup: Bool = false,
    count: Int = 0,
    at now: Timestamp
  ) {
    flight = Flight(
      attempt: Attempt(epoch: epoch, number: nextAttempt),
      mode: mode,
      isLookup: isLookup,
      count: count,
      deadline: Deadline(from: now, nanoseconds: cold.value.timeout),
      startedBy: eventCount
    )
    nextAttempt += 1
    if mode == .modify || isLookup {
      lastTurn = .modify
    } else if mode == .fetch {
      lastTurn = .fetch
    }
    // A subscription that was refused lets edits and pages have a turn each, if there are both.
    if zone.isSubscriptionPutOff != nil, lastTurn == .fetch || !cold.value.fetch.wantsRequest {
      zone.isSubscriptionPutOff = nil
    }
  }

  /// Chooses the entries of the next modification: a prefix of the batch.
  private mutating func chooseBatch(limits: RequestLimits, at now: Timestamp) -> Int {
    if modify.repeated > 0 { return modify.repeated }
    if modify.frozen > 0 {
      return modify.part > 0 ? min(modify.part, modify.frozen) : modify.frozen
    }
    let probes = takeProbes(limits: limits, at: now)
    if probes > 0 { return probes }
    fillWithOthers(limits: limits, at: now)
    return modify.countForRequest(limits: limits)
  }

  /// Sends again after a pause; the same request if its response was lost.
  mutating func reduceRetry(attempt: Attempt, retry: Retry, at now: Timestamp) -> Bool {
    guard let flight = endRequest(attempt: attempt) else { return false }
    if flight.mode == .modify {
      if retry.isLost {
        loseResponse(over: flight, error: retry.error, at: now)
      } else {
        modify.noteFailure(retry.error, ofFirst: flight.count)
      }
    }
    cold.value.lastError = retry.error
    closeGate(for: retry.wait, at: now)
    spendBudget(of: flight, on: retry, at: now)
    parkProbesAgain(after: retry.error, at: now)
    applyCancellations()
    announceCompleted()
    return true
  }

  /// Counts a failure of work that has no records, which no loop may repeat for ever.
  ///
  /// A cloud that is away has no count. A subscription has one all the same if everything else is answered: it must not
  /// slow that down.
  private mutating func spendBudget(of flight: Flight, on retry: Retry, at now: Timestamp) {
    let error = retry.error
    let found = ErrorTable.disposition(of: error.code, for: flight.mode, in: .request)
    let isCounted = found == .retryTransient
    switch flight.mode {
    case .createSubscription:
      let failures = zone.refuseSubscription(answered: answered, isCounted: isCounted)
      guard failures > configuration.failureBudget else { return }
      zone.forgetSubscriptionFailures()
      zone.subscription = .givenUp(error)
    case .createZone where isCounted:
      let failures = gate.retries[retry.wait.cause]
      if failures > configuration.failureBudget { refuse(error: error, over: flight, at: now) }
    case .fetch where isCounted && !flight.isLookup && fetch.hasRun:
      let failures = (fetch.run?.failures ?? 0) + 1
      fetch.run?.failures = failures
      if failures > configuration.failureBudget { failRun(with: error) }
    case .createZone, .fetch, .modify: break
    }
  }

  /// Sends less next time; an item that is too large alone is parked.
  mutating func reduceSplit(attempt: Attempt, split: Split, at now: Timestamp) -> Bool {
    guard let flight = endRequest(attempt: attempt) else { return false }
    guard flight.mode == .modify else {
      halt(split.error, over: flight, at: now)
      return true
    }
    modify.putBehindFrozen(count: flight.count)
    cold.value.lastError = split.error
    if let asked = split.error.serverWait { closeGate(for: asked, at: now) }
    if flight.count > 1 {
      if split.isTooLarge {
        sizing.wasTooLarge(count: flight.count)
      } else {
        sizing.isSpoilt(count: flight.count)
      }
    } else {
      let entry = modify.batch.remove(at: modify.frozen)
      park(entry, error: split.error, at: now)
      sizing.foundCulprit(isTooLarge: split.isTooLarge)
      afterParking(over: flight, at: now)
    }
    parkProbesAgain(after: nil, at: now)
    applyCancellations()
    announceCompleted()
    return true
  }

  /// Ends the flight that a response belongs to; nil if the response is not for the current one.
  mutating func endRequest(attempt: Attempt) -> Flight? {
    guard let current = flight, current.attempt == attempt else { return nil }
    flight = nil
    return current
  }
}
