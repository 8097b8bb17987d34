import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// An asynchronous handler behind a session, or behind several.
@Suite("An adapter of an asynchronous handler")
struct AsyncHandlerAdapterTests {
  /// A handler that ends a fetch when its task is cancelled, and any other call at once.
  private struct Endless: AsyncOperationHandler {
    let began: AsyncStream<String>.Continuation

    func createZone(
      _ operation: CreateZoneOperation,
      context: RequestContext
    ) async throws(SyncError) -> Bool { true }

    func createSubscription(
      _ operation: CreateSubscriptionOperation,
      context: RequestContext
    ) async throws(SyncError) -> Bool { true }

    func modify(
      _ operation: ModifyOperation,
      context: RequestContext
    ) async throws(SyncError) -> ModifyOperation.Response { .init() }

    func fetch(
      _ operation: FetchOperation,
      context: RequestContext
    ) async throws(SyncError) -> FetchOperation.Response {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      await withTaskCancellationHandler {
        began.yield("fetch")
        for await _ in stream {}
      } onCancel: {
        continuation.finish()
      }
      throw SyncError(.operationCancelled)
    }
  }

  private static func context(_ number: UInt64) throws -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 1, number: 1),
      deadline: .distantFuture
    )
  }

  @Test("Of two calls with one name none is cancelled; a call of its own name is")
  func cancel() async throws {
    let (began, beginning) = AsyncStream<String>.makeStream()
    let adapter = AsyncHandlerAdapter(Endless(began: beginning))
    let (ended, ending) = AsyncStream<String>.makeStream()
    for (name, number) in [("a", 7), ("b", 7), ("c", 8)] as [(String, UInt64)] {
      adapter.handle(fetchOperation: FetchOperation(), context: try Self.context(number)) { _ in
        ending.yield(name)
      }
    }
    var beginnings = began.makeAsyncIterator()
    for _ in 0..<3 { _ = await beginnings.next() }

    adapter.cancel(try Self.context(7).attempt)
    adapter.cancel(try Self.context(8).attempt)

    var endings = ended.makeAsyncIterator()
    #expect(await endings.next() == "c")
  }
}
