/// Maps every response with an error in it to an event, by ``ErrorTable``.
///
/// It asks the app's conflict resolver, and what to do about an expired change token; both answers
/// are recorded with the event.
public struct ErrorMiddleware: Middleware {
  private let resolver: ConflictResolver
  private let resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)?

  /// Creates the middleware.
  ///
  /// - Parameters:
  ///   - resolver: Decides about conflicts.
  ///   - resolveExpiredChangeToken: Gives the token to fetch from when one has expired; nil to fetch
  ///     everything.
  public init(
    resolver: ConflictResolver = .fieldwise(default: .client),
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil
  ) {
    self.resolver = resolver
    self.resolveExpiredChangeToken = resolveExpiredChangeToken
  }

  /// Replaces answers by what they mean.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    switch event {
    case .workFailure(let attempt, let error):
      guard let flight = context.state.flight, flight.attempt == attempt else { break }
      return next(meaning(of: error, flight: flight, context: context))
    case .workSuccess(let attempt, let result):
      guard let flight = context.state.flight, flight.attempt == attempt else { break }
      return next(meaning(of: result, event: event, flight: flight, context: context))
    case .woke:
      guard let flight = context.state.flight, flight.deadline.isPassed(at: context.now) else {
        break
      }
      let error = SyncError(.timedOut, "the handler did not answer in time")
      return next(meaning(of: error, flight: flight, context: context))
    default: break
    }
    return next(event)
  }

  // MARK: Failures

  private func meaning(
    of error: SyncError,
    flight: Flight,
    context: MiddlewareContext
  ) -> SyncEvent {
    let attempt = flight.attempt
    let found = ErrorTable.disposition(of: error.code, for: flight.mode, in: .request)
    if flight.isLookup, found.isRetry {
      // Records that cannot be looked up are sent again with the others, for which they must not stand in the way.
      return judge(whole: error, flight: flight, context: context)
    }
    switch found {
    case .retryTransient
    where error.code == .operationCancelled && context.state.modify.repeated > 0
      && flight.mode == .modify:
      // Nothing is known of the request whose response was lost: it goes on being sent as it was.
      let wait = error.wait(disposition: .resendUnchanged)
      return .retry(attempt, Retry(error: error, wait: wait, isLost: true))
    case .retryTransient where flight.mode == .modify:
      // Each of its records is charged; out of their budgets the culprit is searched for.
      let isSpent = context.state.requestedEntries.contains {
        $0.failures >= context.state.configuration.failureBudget
      }
      if isSpent, flight.count > 1 {
        return .split(attempt, Split(error: error, isTooLarge: false))
      }
      return judge(whole: error, flight: flight, context: context)
    case .retryNetwork, .retryService, .retryTransient, .resendUnchanged:
      let isLost = found == .resendUnchanged
      return .retry(
        attempt,
        Retry(error: error, wait: error.wait(disposition: found), isLost: isLost)
      )
    case .isolate, .waitForQuota:
      if found == .isolate, error.serverWait != nil, context.mayBeAskedToWait {
        return .retry(attempt, Retry(error: error, wait: error.wait(disposition: .retryService)))
      }
      guard flight.count == 1 || found == .waitForQuota else {
        return .split(attempt, Split(error: error, isTooLarge: false))
      }
      return judge(whole: error, flight: flight, context: context)
    case .split: return .split(attempt, Split(error: error, isTooLarge: true))
    case .waitForAccount:
      return .settleItems(
        attempt,
        Settlement(wait: error.serverWait, account: error.accountTrouble, error: error)
      )
    case .createZone, .askAboutZone:
      return .settleItems(
        attempt,
        Settlement(wait: error.serverWait, zone: error.zoneLoss, error: error)
      )
    case .startOver, .failFetch:
      if flight.isLookup { return lookupFailed(error: error, flight: flight) }
      if found == .failFetch { return .failFetch(attempt, error) }
      return .startOver(attempt, tokenAfterExpiry(context: context), error)
    case .unwrap: return unwrapped(error: error, flight: flight, context: context)
    case .giveUpSubscription, .halt, .resolveConflict, .recordMissing, .stay, .park:
      return .settleItems(
        attempt,
        Settlement(wait: error.serverWait, halt: error, error: error)
      )
    }
  }

  /// Looks at the items of a partial failure.
  private func unwrapped(
    error: SyncError,
    flight: Flight,
    context: MiddlewareContext
  ) -> SyncEvent {
    if flight.mode == .modify || flight.isLookup, !error.itemErrors.isEmpty {
      return classify(
        answers: ItemResults(failures: error.itemErrors),
        flight: flight,
        context: context,
        error: error
      )
    }
    if flight.mode == .modify, flight.count == 1 {
      return judge(whole: error, flight: flight, context: context)
    }
    if flight.mode == .modify {
      return .split(flight.attempt, Split(error: error, isTooLarge: false))
    }
    // Other work has one item, its zone; of the rest it is only said that they were refused for it.
    let items = error.itemErrors.map(\.error)
    var inner = items.first { $0.code != .batchRequestFailed } ?? items.first ?? error
    if inner.code == .partialFailure { inner.code = .invalidArguments }
    inner.retryAfterNanoseconds = (items + [error]).compactMap(\.retryAfterNanoseconds).max()
    return meaning(of: inner, flight: flight, context: context)
  }

  private func lookupFailed(error: SyncError, flight: Flight) -> SyncEvent {
    let verdict = ItemVerdict.again(error, counted: true)
    let verdicts = [ItemVerdict](repeating: verdict, count: flight.count)
    let wait = error.wait(disposition: .retryTransient)
    let settlement = Settlement(verdicts: verdicts, wait: wait, error: error)
    return .resolveConflict(flight.attempt, settlement)
  }

  private func tokenAfterExpiry(context: MiddlewareContext) -> ChangeToken? {
    // Decided also without a closure: a re-run cannot know whether there was one.
    let decision = context.decide { .expiredToken(resolveExpiredChangeToken?()) }
    guard case .expiredToken(let token) = decision else { return nil }
    return token
  }

  // MARK: Successes

  private func meaning(
    of result: SyncWork.Result,
    event: SyncEvent,
    flight: Flight,
    context: MiddlewareContext
  ) -> SyncEvent {
    switch result {
    case .modify(let response) where flight.mode == .modify:
      if isWhole(response: response, flight: flight, state: context.state) { return event }
      let answers = ItemResults(response)
      return classify(
        answers: answers,
        flight: flight,
        context: context,
        error: response.failures.first?.error
      )
    case .fetch(let response) where flight.isLookup:
      return classify(
        answers: ItemResults(lookedUp: response),
        flight: flight,
        context: context,
        error: nil
      )
    case .fetch(let page) where flight.mode == .fetch:
      let checked = page.withBrokenRecordsSetAside(zoneID: context.state.zoneID)
      return checked.map { .workSuccess(flight.attempt, .fetch($0)) } ?? event
    default:
      guard result.mode != flight.mode else { return event }
      let error = SyncError(.invalidResponse, "a \(flight.mode) was answered as a \(result.mode)")
      return .settleItems(flight.attempt, Settlement(halt: error, error: error))
    }
  }

  /// Whether everything was done, and is told in the order of the request.
  private func isWhole(
    response: ModifyOperation.Response,
    flight: Flight,
    state: SyncState
  ) -> Bool {
    guard response.failures.isEmpty, state.modify.batch.count >= flight.count,
      response.savedRecords.count + response.deletedRecordIDs.count == flight.count
    else { return false }
    let saved = response.savedRecords
    var saves = 0
    for place in 0..<flight.count {
      switch state.modify.batch[place].intent {
      case .save(let record):
        guard saves < saved.count,
          saved[saves].storage.recordID == record.storage.recordID
        else { return false }
        saves += 1
      case .delete(let recordID):
        let next = place - saves
        guard next < response.deletedRecordIDs.count, response.deletedRecordIDs[next] == recordID
        else { return false }
      }
    }
    return true
  }

  // MARK: Items

  /// Takes an error of the whole request for that of each item.
  private func judge(
    whole error: SyncError,
    flight: Flight,
    context: MiddlewareContext
  ) -> SyncEvent {
    classify(answers: ItemResults(whole: error), flight: flight, context: context, error: error)
  }

  private func classify(
    answers: ItemResults,
    flight: Flight,
    context: MiddlewareContext,
    error: SyncError?
  ) -> SyncEvent {
    var classify = ItemResultClassifier(
      resolver: resolver,
      context: context,
      isAlone: flight.count == 1,
      isLookup: flight.isLookup
    )
    let settlement = classify.settle(
      entries: context.state.requestedEntries,
      answers: answers,
      error: error
    )
    if let unexplainedError = classify.unexplainedError {
      return .split(flight.attempt, Split(error: unexplainedError, isTooLarge: false))
    }
    return flight.isLookup
      ? .resolveConflict(flight.attempt, settlement) : .settleItems(flight.attempt, settlement)
  }
}

extension MiddlewareContext {
  /// Whether a server that has asked to wait is waited for once more instead of looking for a culprit: every loop has a
  /// budget.
  var mayBeAskedToWait: Bool {
    state.gate.retries[.service] < state.configuration.failureBudget
  }
}
