extension SyncState {
  /// Queues a fetch.
  mutating func queueFetch(_ operation: FetchOperation) -> Bool {
    var operation = operation
    // It begins where the present run ends, whatever token it carries.
    if fetch.run != nil { operation.changeToken = nil }
    fetch.waiting.append(operation)
    return true
  }

  /// Begins a run that answers every waiting fetch, if none is running.
  mutating func beginRun() {
    guard fetch.run == nil, let first = nextFetch else { return }
    // Single records have nothing to do with where the changes begin.
    if first.isLookup {
      var operations = FetchQueue()
      operations.append(first)
      fetch.waiting.remove(first.id)
      fetch.run = FetchRun(operations: operations, token: fetch.lastToken, startedOver: false)
      return
    }
    var operations = FetchQueue()
    var lookups = FetchQueue()
    for operation in fetch.waiting {
      if operation.isLookup { lookups.append(operation) } else { operations.append(operation) }
    }
    let token: ChangeToken? =
      operations.contains(where: \.startingOver) ? nil : first.changeToken ?? fetch.lastToken
    // Goes on with a run from nothing that was cut short, so that its end says what is gone.
    let startedOver = token == nil || (fetch.isLastCut && token == fetch.lastToken)
    fetch.waiting = lookups
    fetch.lastToken = token
    fetch.isLastCut = false
    fetch.run = FetchRun(operations: operations, token: token, startedOver: startedOver)
  }

  /// The fetch that the next run begins with: while the zone is lost only look-ups are made.
  private var nextFetch: FetchOperation? {
    if case .lost = zone.zone { fetch.waiting.firstLookup } else { fetch.waiting.first }
  }

  /// Takes a page.
  mutating func receivePage(
    _ response: FetchOperation.Response,
    over flight: Flight,
    at now: Timestamp
  ) {
    guard var run = fetch.run else { return }
    if run.isLookup { return receiveLookup(response, of: run, at: now) }
    var page = response
    run.pages += 1
    let isStuck = page.hasMore && (page.changeToken == nil || page.changeToken == run.token)
    run.stuck = isStuck ? run.stuck + 1 : 0
    run.startedOver = run.startedOver || page.startedOver
    page.startedOver = run.startedOver
    page.isBeginning = run.token == nil || response.startedOver
    page.previousToken = page.isBeginning ? nil : run.token
    page.page = PageID(number: fetch.nextPage)
    fetch.nextPage += 1
    if let token = page.changeToken {
      run.token = token
      fetch.lastToken = token
    }
    progress.fetchedPages += 1
    progress.fetchedRecords += page.changedRecords.count + page.deletedRecords.count
    progress.isMoreToFetch = page.hasMore
    fetch.run = run
    if let asked = response.serverWait { closeGate(asked, at: now) }
    hearOfDoubtful(in: page)
    announce(page, of: run)
    if run.stuck >= configuration.stuckTokenBudget {
      let error = SyncError(
        .tokenStuck,
        "the change token did not advance over \(run.stuck) pages although more is to come"
      )
      endRun(error, over: flight, at: now)
    } else if page.hasMore, run.pages >= configuration.pageBudget {
      let error = SyncError(.tooManyPages, "the fetch has more than \(run.pages) pages")
      endRun(error, over: flight, at: now)
    } else if page.isLast {
      fetch.run = nil
    }
  }

  /// Takes the answer to a look-up: a page beside the others, without a token.
  private mutating func receiveLookup(
    _ response: FetchOperation.Response,
    of run: FetchRun,
    at now: Timestamp
  ) {
    var page = response
    page.changeToken = nil
    page.hasMore = false
    page.startedOver = false
    page.page = PageID(number: fetch.nextPage)
    fetch.nextPage += 1
    fetch.run = nil
    progress.fetchedRecords += page.changedRecords.count + page.deletedRecords.count
    if let asked = response.serverWait { closeGate(asked, at: now) }
    hearOfDoubtful(in: page)
    announce(page, of: run)
  }

  /// Announces a page, and with the last one the completion of every fetch that it answers.
  private mutating func announce(_ page: FetchOperation.Response, of run: FetchRun) {
    guard let first = run.operations.first else { return }
    notifications.add(.fetchPage(first, page))
    if configuration.acknowledgesPages {
      fetch.awaited = AwaitedPage(operation: first, response: page)
    }
    guard page.isLast else { return }
    for operation in run.operations.dropFirst() {
      // Not "started over": an app would take an empty page of that kind for an empty cloud.
      var empty = FetchOperation.Response(changeToken: page.changeToken)
      empty.previousToken = page.changeToken
      empty.page = page.page
      notifications.add(.fetchPage(operation, empty))
    }
  }

  private mutating func endRun(_ error: SyncError, over flight: Flight, at now: Timestamp) {
    failRun(error)
    halt(error, over: flight, at: now)
  }

  mutating func failRun(_ error: SyncError) {
    guard let run = fetch.run else { return }
    cutRun(run)
    for operation in run.operations { notifications.add(.fetchFailed(operation, error)) }
  }

  /// Ends a run before its last page.
  private mutating func cutRun(_ run: FetchRun) {
    fetch.run = nil
    if run.isLookup { return }
    fetch.isLastCut = run.startedOver && run.token != nil
    progress.isMoreToFetch = false
  }

  /// Ends a fetch, or a lookup, that cannot succeed.
  mutating func reduceFailFetch(
    attempt: Attempt,
    error: SyncError,
    at now: Timestamp
  ) -> Bool {
    guard let flight = endRequest(attempt: attempt) else { return false }
    cold.value.lastError = error
    if let asked = error.serverWait { closeGate(asked, at: now) }
    if !flight.isLookup { failRun(error) }
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
    if run.isLookup {
      cold.value.lastError = error
      failRun(error)
      return true
    }
    let isRepeated = run.token == nil || token == run.token
    run.stuck = isRepeated ? run.stuck + 1 : 0
    run.token = isRepeated ? nil : token
    run.startedOver = run.token == nil || run.startedOver
    fetch.lastToken = run.token
    fetch.run = run
    cold.value.lastError = error
    if let asked = error.serverWait { closeGate(asked, at: now) }
    if run.stuck >= configuration.stuckTokenBudget { endRun(error, over: flight, at: now) }
    return true
  }

  /// Gives up a fetch; false if there is none of that name.
  mutating func cancelFetch(_ id: OperationID) -> Bool {
    let error = SyncError(.cancelled, "the fetch was cancelled")
    if var run = fetch.run, let operation = run.operations.remove(id) {
      notifications.add(.fetchFailed(operation, error))
      if run.operations.isEmpty {
        cutRun(run)
        if let flight, flight.mode == .fetch, !flight.isLookup { self.flight = nil }
      } else {
        fetch.run = run
      }
      return true
    }
    // Looked at first: what the state shares with others is copied only if there is something to do.
    guard fetch.waiting.contains(id), let operation = fetch.waiting.remove(id) else { return false }
    notifications.add(.fetchFailed(operation, error))
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
