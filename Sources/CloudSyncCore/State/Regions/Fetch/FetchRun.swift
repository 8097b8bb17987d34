/// One run: page after page until there is no more.
package struct FetchRun: Sendable {
  /// The fetches that it answers, at least one.
  package var operations: FetchQueue
  package var token: ChangeToken?
  /// Whether it began from nothing.
  package var startedOver: Bool
  package var pages = 0
  /// How many pages in a row brought no new token although more was to come.
  package var stuck = 0
  /// How often it has begun anew.
  package var restarts = 0
  /// How often in a row its request has failed, where the cloud is not away; nil if it has not.
  package var failures: Int?
  /// Where it began from nothing: records that had been saved before, and that no page has named yet.
  package var unnamed = PersistentSortedMap<RecordID, Void>()

  /// Whether it looks single records up instead of fetching changes.
  package var isLookup: Bool { operations.first?.isLookup ?? false }

  /// Takes a page: says where the run is, and completes what the page tells of its place in it.
  mutating func take(_ page: inout FetchOperation.Response) {
    pages += 1
    failures = nil
    let isStuck = page.hasMore && (page.changeToken == nil || page.changeToken == token)
    stuck = isStuck ? stuck + 1 : 0
    startedOver = startedOver || page.startedOver
    page.isBeginning = token == nil || page.startedOver
    page.startedOver = startedOver
    page.previousToken = page.isBeginning ? nil : token
    if let next = page.changeToken { token = next }
  }

  /// Begins anew, from a token or from nothing; a token that did not help before counts as none.
  mutating func startOver(from token: ChangeToken?) {
    let isRepeated = self.token == nil || token == self.token
    stuck = isRepeated ? stuck + 1 : 0
    self.token = isRepeated ? nil : token
    startedOver = self.token == nil || startedOver
    restarts += 1
  }

  /// Why the run cannot go on after a page, if it cannot.
  func error(after page: FetchOperation.Response, in configuration: SyncConfiguration) -> SyncError?
  {
    if stuck >= configuration.stuckTokenBudget {
      return SyncError(
        .tokenStuck,
        "the change token did not advance over \(stuck) pages although more is to come"
      )
    }
    guard page.hasMore, pages >= configuration.pageBudget else { return nil }
    return SyncError(.tooManyPages, "the fetch has more than \(pages) pages")
  }

  /// The fetches that end with a page, but for the first one, which gets what it brings.
  func others(endingWith page: FetchOperation.Response) -> FetchQueue {
    guard page.isLast, let first = operations.first else { return FetchQueue() }
    var others = operations
    others.remove(first.id)
    return others
  }
}

extension FetchRun: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    operations = try coder.field("operations") { $0.operations }
    token = try coder.field("token") { $0.token }
    startedOver = try coder.field("startedOver") { $0.startedOver }
    pages = try coder.amount("pages") { $0.pages }
    stuck = try coder.amount("stuck") { $0.stuck }
    restarts = try coder.amount("restarts") { $0.restarts }
    failures = try coder.optionalAmount("failures") { $0.failures }
    for recordID in try coder.field("unnamed", { $0.unnamed.keys }) { unnamed[recordID] = () }
    try coder.check { operations.isEmpty ? "a fetch runs for nobody" : nil }
  }
}
