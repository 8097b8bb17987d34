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

extension FetchRun: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("operations", operations)
      $0.field("token", token)
      $0.field("startedOver", startedOver)
      $0.field("pages", pages)
      $0.field("stuck", stuck)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    operations = try reader.field("operations")
    token = try reader.field("token")
    startedOver = try reader.field("startedOver")
    pages = try reader.amount("pages")
    stuck = try reader.amount("stuck")
    try reader.endObject()
    if operations.isEmpty { throw reader.failure("a fetch runs for nobody") }
  }
}

extension AwaitedPage: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("operation", operation)
      $0.field("response", response)
      $0.field("nextOffer", nextOffer)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    self.init(operation: try reader.field("operation"), response: try reader.field("response"))
    nextOffer = try reader.field("nextOffer")
    try reader.endObject()
  }
}

extension FetchRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("waiting", waiting)
      $0.field("run", run)
      $0.field("lastToken", lastToken)
      $0.field("isLastCut", isLastCut)
      $0.field("awaited", awaited)
      $0.field("nextPage", nextPage)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    waiting = try reader.field("waiting")
    run = try reader.field("run")
    lastToken = try reader.field("lastToken")
    isLastCut = try reader.field("isLastCut")
    awaited = try reader.field("awaited")
    nextPage = try reader.number("nextPage")
    try reader.endObject()
  }
}
