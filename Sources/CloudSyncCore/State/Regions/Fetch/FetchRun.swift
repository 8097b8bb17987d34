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

  /// Whether it looks single records up instead of fetching changes.
  package var isLookup: Bool { operations.first?.isLookup ?? false }

  /// Takes a page: says where the run is, and completes what the page tells of its place in it.
  mutating func take(_ page: inout FetchOperation.Response) {
    pages += 1
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

  /// The announcements of a page: with the last one, the completion of every fetch that it answers.
  func notifications(of page: FetchOperation.Response) -> [SyncNotification] {
    guard let first = operations.first else { return [] }
    guard page.isLast else { return [.fetchPage(first, page)] }
    // Not "started over": an app would take an empty page of that kind for an empty cloud.
    var empty = FetchOperation.Response(changeToken: page.changeToken)
    empty.previousToken = page.changeToken
    empty.page = page.page
    return [.fetchPage(first, page)] + operations.dropFirst().map { .fetchPage($0, empty) }
  }
}

extension FetchRun: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    operations = try coder.field("operations") { $0.operations }
    token = try coder.field("token") { $0.token }
    startedOver = try coder.field("startedOver") { $0.startedOver }
    pages = try coder.amount("pages") { $0.pages }
    stuck = try coder.amount("stuck") { $0.stuck }
    try coder.check { operations.isEmpty ? "a fetch runs for nobody" : nil }
  }
}
