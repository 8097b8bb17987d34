extension SyncRegions {
  /// Takes the response to a request for a page, or for single records.
  mutating func receivePage(
    _ response: FetchOperation.Response,
    over flight: Flight,
    at now: Timestamp
  ) {
    guard let run = fetch.run else { return }
    let page = fetch.take(response)
    progress.fetchedRecords += page.changedRecords.count + page.deletedRecords.count
    if !run.isLookup {
      progress.fetchedPages += 1
      progress.isMoreToFetch = page.hasMore
    }
    if let asked = response.serverWait { closeGate(for: asked, at: now) }
    modify.hear(of: page)
    if page.isBeginning || !modify.open.isEmpty { overtakeAnswers(by: page) }
    announce(page, of: run)
    if let error = fetch.run?.error(after: page, in: configuration) {
      failRun(with: error)
      halt(error, over: flight, at: now)
    } else if page.isLast {
      fetch.run = nil
    }
  }

  /// Has a page stand for what was answered before it and is not announced yet.
  private mutating func overtakeAnswers(by page: FetchOperation.Response) {
    if !page.isEmpty { modify.open.overtake(by: page.told) }
    if page.isBeginning {
      let answered = modify.open.answeredRecordsInCloud()
      fetch.run?.unnamed = answered
    }
    guard fetch.run?.unnamed.isEmpty == false else { return }
    for recordID in page.namedRecordIDs { fetch.run?.unnamed[recordID] = nil }
    // What no page of everything has named is gone.
    guard page.isLast, page.startedOver, let gone = fetch.run?.unnamed.keys else { return }
    modify.open.overtake(by: gone.map { .deleted($0) })
  }

  private mutating func announce(_ page: FetchOperation.Response, of run: FetchRun) {
    guard let first = run.operations.first else { return }
    notifications.add(.fetchPage(first, page))
    let others = run.others(endingWith: page)
    if configuration.acknowledgesPages {
      // The others end when the page is stored: an app that keeps their token has what comes before it.
      fetch.awaited = AwaitedPage(operation: first, response: page, others: others)
    } else {
      complete(others, with: page)
    }
  }

  /// Ends fetches with a page that another one has brought.
  mutating func complete(_ others: FetchQueue, with page: FetchOperation.Response) {
    for operation in others { notifications.add(.fetchPage(operation, page.completion)) }
  }

  /// Ends a run as failed.
  mutating func failRun(with error: SyncError) {
    guard let run = fetch.run else { return }
    cutRun()
    for operation in run.operations { notifications.add(.fetchFailed(operation, error)) }
  }

  private mutating func cutRun() {
    if fetch.run?.isLookup == false { progress.isMoreToFetch = false }
    fetch.cutRun()
  }

  /// Ends a fetch, or a lookup, that cannot succeed.
  mutating func reduceFailFetch(
    attempt: Attempt,
    error: SyncError,
    at now: Timestamp
  ) -> Bool {
    guard let flight = endRequest(attempt: attempt) else { return false }
    cold.value.lastError = error
    if let asked = error.serverWait { closeGate(for: asked, at: now) }
    if !flight.isLookup { failRun(with: error) }
    applyCancellations()
    return true
  }

  /// Begins the run anew, from the token that the app gave, or from nothing.
  mutating func reduceStartOver(
    attempt: Attempt,
    token: ChangeToken?,
    error: SyncError,
    at now: Timestamp
  ) -> Bool {
    guard let flight = endRequest(attempt: attempt), var run = fetch.run else { return false }
    cold.value.lastError = error
    if run.isLookup {
      failRun(with: error)
      return true
    }
    run.startOver(from: token)
    fetch.lastToken = run.token
    fetch.run = run
    if let asked = error.serverWait {
      closeGate(for: asked, at: now)
    } else if run.restarts > 1 {
      // A cloud that refuses every token that it gives is not asked as fast as it answers.
      closeGate(for: Wait(.transient), at: now)
    }
    if run.stuck >= configuration.stuckTokenBudget {
      failRun(with: error)
      halt(error, over: flight, at: now)
    }
    return true
  }

  /// Gives up a fetch; false if there is none of that name.
  mutating func cancelFetch(_ id: OperationID) -> Bool {
    // Looked at first: what the state shares with others is copied only if there is something to do.
    guard cold.value.fetch.contains(id) else { return false }
    guard let (operation, endsRun) = fetch.cancel(id) else { return false }
    let error = SyncError(.cancelled, "the fetch was cancelled")
    notifications.add(.fetchFailed(operation, error))
    // Also where the run had ended before it, as when its zone was lost.
    if fetch.run == nil { progress.isMoreToFetch = false }
    guard endsRun else { return true }
    if let flight, flight.mode == .fetch, !flight.isLookup { self.flight = nil }
    return true
  }

  /// Takes the app's word about a page.
  mutating func reduceAcknowledge(
    page: PageID,
    answer: PageAnswer,
    at now: Timestamp
  ) -> Bool {
    guard let awaited = fetch.awaited, awaited.response.page == page else { return false }
    switch answer {
    case .stored:
      fetch.awaited = nil
      gate.retries[.storage] = 0
      complete(awaited.others, with: awaited.response)
    case .notNow:
      let length = waitLength(for: Wait(.storage))
      gate.retries[.storage] += 1
      fetch.awaited?.nextOffer = Deadline(from: now, nanoseconds: length)
    }
    return true
  }

  /// Announces the page that the app could not store once more.
  mutating func offerPageAgain() {
    guard let awaited = fetch.awaited else { return }
    fetch.awaited?.nextOffer = nil
    notifications.add(.fetchPage(awaited.operation, awaited.response))
  }
}
