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

  /// Whether there is a run; asked after every event, so that nothing of it is copied.
  package var hasRun: Bool { if case .some = run { true } else { false } }

  /// Whether a page waits for the app's acknowledgement; likewise.
  package var isAwaited: Bool { if case .some = awaited { true } else { false } }

  /// Whether a page could be asked for now.
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
}

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
}

/// A page that was announced and is not acknowledged.
package struct AwaitedPage: Sendable {
  private struct Contents: Sendable {
    let operation: FetchOperation
    let response: FetchOperation.Response
  }

  // Behind a reference: whether there is a page is asked far more often than what it holds.
  private let contents: CopyOnWrite<Contents>
  /// When it is offered again after the app said "not now".
  package var nextOffer: Deadline?

  package init(operation: FetchOperation, response: FetchOperation.Response) {
    contents = CopyOnWrite(Contents(operation: operation, response: response))
  }

  package var operation: FetchOperation { contents.value.operation }
  package var response: FetchOperation.Response { contents.value.response }
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

extension AwaitedPage: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    self.init(
      operation: try coder.field("operation") { $0.operation },
      response: try coder.field("response") { $0.response }
    )
    nextOffer = try coder.field("nextOffer") { $0.nextOffer }
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
