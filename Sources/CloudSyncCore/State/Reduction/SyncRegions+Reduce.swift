extension SyncRegions {
  /// Applies an event; see ``SyncState/reduce(_:at:)``.
  mutating func reduce(_ event: SyncEvent, at now: Timestamp) -> Bool {
    eventCount += 1
    clampDeadlines(at: now)
    return switch event {
    case .doWork(let work): reduceDoWork(work: work)
    case .startWork(let request), .retryWork(let request): reduceRequest(request: request, at: now)
    case .workSuccess(let attempt, let result):
      reduceSuccess(attempt: attempt, result: result, at: now)
    case .workFailure(let attempt, let error):
      // Reached only without an error middleware: the work is kept, and the session says why.
      reduceSettlement(attempt: attempt, settlement: Settlement(halt: error, error: error), at: now)
    case .settleItems(let attempt, let settlement), .resolveConflict(let attempt, let settlement):
      reduceSettlement(attempt: attempt, settlement: settlement, at: now)
    case .retry(let attempt, let retry): reduceRetry(attempt: attempt, retry: retry, at: now)
    case .split(let attempt, let split): reduceSplit(attempt: attempt, split: split, at: now)
    case .startOver(let attempt, let token, let error):
      reduceStartOver(attempt: attempt, token: token, error: error, at: now)
    case .failFetch(let attempt, let error):
      reduceFailFetch(attempt: attempt, error: error, at: now)
    case .delivered(let number): notifications.drop(before: number)
    case .woke: reduceWoke(at: now)
    default: reduceCall(event: event, at: now)
    }
  }

  /// The calls of the app, and reports from elsewhere.
  private mutating func reduceCall(event: SyncEvent, at now: Timestamp) -> Bool {
    switch event {
    case .start: reduceStart(at: now)
    case .halt(let error): reduceHalt(error: error, at: now)
    case .reset(let nonce): reduceReset(nonce: nonce, at: now)
    case .restored(let nonce, let configuration):
      reduceRestored(nonce: nonce, configuration: configuration)
    case .cancel(let id): reduceCancel(id: id)
    case .retryNow: reduceRetryNow(at: now)
    case .connectivityChanged: forgetOwnWaits()
    case .retryParked(let ids): reduceRetryParked(recordIDs: ids)
    case .dropParked(let ids): reduceDropParked(recordIDs: ids)
    case .acknowledge(let page, let answer): reduceAcknowledge(page: page, answer: answer, at: now)
    case .accountDidChange: reduceAccountDidChange()
    case .resolveAccountSwitch(let decision, let nonce):
      reduceAccountSwitch(decision: decision, nonce: nonce, at: now)
    case .decideZone(let decision): reduceZoneDecision(decision: decision)
    case .accountProviderAttached: account.attachProvider()
    case .accountCheckStarted: account.beginCheck(timeout: cold.value.timeout, at: now)
    case .accountStatusChanged(let status, let identity):
      reduceAccountStatus(status: status, identity: identity, at: now)
    case .gateClosed(let wait): closeGate(for: wait, at: now)
    case .workDropped(let work): reduceDropped(work: work)
    default: false
    }
  }
}
