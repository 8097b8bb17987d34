/// Fetches: those that wait, the one that runs, and where the last one ended.
package struct FetchRegion: Sendable {
  /// Fetches that wait for the next run.
  package var waiting = FetchQueue()
  package var run: FetchRun?
  /// Where the last run ended, or the present one is.
  package var lastToken: ChangeToken?
  /// Whether that run began from nothing and was cut short.
  package var isLastCut = false
  /// The page that the app has not acknowledged yet.
  package var awaited: AwaitedPage?
  /// The number of the next page.
  package var nextPage: UInt64 = 1

  package init() {}

  // What is asked after every event is inlined, so that nothing of the region is copied for it.

  /// Whether there is a run.
  @inline(__always)
  package var hasRun: Bool { if case .some = run { true } else { false } }

  /// Whether there is a run, or a fetch that waits for one, or for its page to be stored.
  @inline(__always)
  var hasWork: Bool { hasRun || !waiting.isEmpty || (isAwaited && holdsFetches) }

  /// Whether fetches end when the page is stored that waits for the app.
  private var holdsFetches: Bool { awaited?.others.isEmpty == false }

  /// Whether a page waits for the app's acknowledgement.
  @inline(__always)
  package var isAwaited: Bool { if case .some = awaited { true } else { false } }

  /// Whether a page could be asked for now.
  @inline(__always)
  package var wantsRequest: Bool { !isAwaited && (hasRun || !waiting.isEmpty) }

  /// Whether the next request looks up records that the app has named.
  package var isLookupNext: Bool { run.map(\.isLookup) ?? (waiting.firstLookup != nil) }

  /// Has the fetches of a run wait again, in front of those that wait: they are to begin anew.
  package mutating func putOffRun() {
    guard var operations = run?.operations else { return }
    for operation in waiting { operations.append(operation) }
    waiting = operations
    run = nil
  }

  /// Queues a fetch.
  mutating func enqueue(_ operation: FetchOperation) {
    var operation = operation
    // It begins where the present run ends, whatever token it carries; looked up records end at none.
    if let run, !run.isLookup { operation.changeToken = nil }
    waiting.append(operation)
  }

  /// Begins a run that answers every waiting fetch, if none is running.
  ///
  /// - Parameter isZoneLost: Whether only records can be looked up.
  mutating func beginRun(isZoneLost: Bool) {
    guard run == nil, let first = isZoneLost ? waiting.firstLookup : waiting.first else { return }
    // Single records have nothing to do with where the changes begin.
    if first.isLookup {
      var operations = FetchQueue()
      operations.append(first)
      waiting.remove(first.id)
      run = FetchRun(operations: operations, token: lastToken, startedOver: false)
      return
    }
    var operations = FetchQueue()
    var lookups = FetchQueue()
    for operation in waiting {
      if operation.isLookup { lookups.append(operation) } else { operations.append(operation) }
    }
    let token: ChangeToken? =
      operations.contains(where: \.startingOver) ? nil : first.changeToken ?? lastToken
    // Goes on with a run from nothing that was cut short, so that its end says what is gone.
    let startedOver = token == nil || (isLastCut && token == lastToken)
    waiting = lookups
    lastToken = token
    isLastCut = false
    run = FetchRun(operations: operations, token: token, startedOver: startedOver)
  }

  /// Takes the response to the run's request: names it, and says what the session knows of it.
  ///
  /// A look-up ends with it; it is a page beside the others, without a token.
  mutating func take(_ response: FetchOperation.Response) -> FetchOperation.Response {
    var page = response
    page.page = PageID(number: nextPage)
    nextPage += 1
    if run?.isLookup == true {
      page.changeToken = nil
      page.hasMore = false
      page.startedOver = false
      run = nil
    } else {
      run?.take(&page)
      if let token = page.changeToken { lastToken = token }
    }
    return page
  }

  /// Ends a run before its last page.
  mutating func cutRun() {
    guard let run else { return }
    self.run = nil
    if !run.isLookup { isLastCut = run.startedOver && run.token != nil }
  }

  /// Takes a fetch out; nil if there is none of that name.
  ///
  /// - Returns: The fetch, and whether its run had no other.
  mutating func cancel(_ id: OperationID) -> (operation: FetchOperation, endsRun: Bool)? {
    if let whole = run, let operation = run?.operations.remove(id) {
      guard run?.operations.isEmpty == true else { return (operation, false) }
      // A run without fetches does not tell any more whether it looked records up.
      run = whole
      cutRun()
      return (operation, true)
    }
    if let operation = awaited?.others.remove(id) { return (operation, false) }
    return waiting.remove(id).map { ($0, false) }
  }

  /// Whether there is a fetch of a name.
  func contains(_ id: OperationID) -> Bool {
    run?.operations.contains(id) == true || waiting.contains(id)
      || (isAwaited && awaited?.others.contains(id) == true)
  }

  /// Makes the tokens of a zone or an account that is gone void: fetches begin from nothing.
  mutating func forgetTokens() {
    lastToken = nil
    // What would have ended with a page that counts no more begins anew.
    let held = awaited?.others ?? FetchQueue()
    awaited = nil
    run?.token = nil
    run?.startedOver = true
    var others = FetchQueue()
    for var operation in Array(held) + waiting {
      operation.changeToken = nil
      others.append(operation)
    }
    waiting = others
  }

  /// All fetches: those that end with a page which is to be stored, the run's, then those that wait.
  var unfinished: [FetchOperation] {
    Array(awaited?.others ?? FetchQueue()) + Array(run?.operations ?? FetchQueue()) + waiting
  }

  /// Takes all fetches out, in their order.
  mutating func removeAll() -> [FetchOperation] {
    let all = unfinished
    awaited?.others = FetchQueue()
    run = nil
    waiting.removeAll()
    return all
  }
}

extension FetchRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    waiting = try coder.field("waiting") { $0.waiting }
    run = try coder.field("run") { $0.run }
    lastToken = try coder.field("lastToken") { $0.lastToken }
    isLastCut = try coder.field("isLastCut") { $0.isLastCut }
    awaited = try coder.field("awaited") { $0.awaited }
    nextPage = try coder.number("nextPage") { $0.nextPage }
  }
}
