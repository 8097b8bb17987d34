/// A page that was announced and is not acknowledged.
package struct AwaitedPage: Sendable {
  private struct Contents: Sendable {
    let operation: FetchOperation
    let response: FetchOperation.Response
    /// The other fetches that end with the page, once it is stored.
    var others: FetchQueue
  }

  // Behind a reference: whether there is a page is asked far more often than what it holds.
  private var contents: CopyOnWrite<Contents>
  /// When it is offered again after the app said "not now".
  package var nextOffer: Deadline?

  package init(
    operation: FetchOperation,
    response: FetchOperation.Response,
    others: FetchQueue = FetchQueue()
  ) {
    contents = CopyOnWrite(Contents(operation: operation, response: response, others: others))
  }

  package var operation: FetchOperation { contents.value.operation }
  package var response: FetchOperation.Response { contents.value.response }
  package var others: FetchQueue {
    get { contents.value.others }
    set { contents.value.others = newValue }
  }
}

extension AwaitedPage: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    self.init(
      operation: try coder.field("operation") { $0.operation },
      response: try coder.field("response") { $0.response },
      others: try coder.field("others") { $0.others }
    )
    nextOffer = try coder.field("nextOffer") { $0.nextOffer }
  }
}
