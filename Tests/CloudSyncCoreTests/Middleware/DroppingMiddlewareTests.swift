import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Testing

/// Middlewares that keep the session's own events from the state: nothing is tried for ever at one instant.
@Suite("A middleware that drops or replaces the session's own events")
struct DroppingMiddlewareTests {
  /// Puts another event in the place of those that a closure names, so often that a test ends at last.
  private final class Replacer: Middleware {
    let name = "replacer"
    let replace: @Sendable (SyncEvent) -> SyncEvent?
    private let calls = Locked(0)

    var count: Int { calls.withLock { $0 } }

    init(_ replace: @escaping @Sendable (SyncEvent) -> SyncEvent?) { self.replace = replace }

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      guard count < 2_000, let other = replace(event) else { return next(event) }
      calls.withLock { $0 += 1 }
      return next(other)
    }
  }

  @Test("The question about the account")
  func accountCheck() {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      AccountStatusMiddleware { $0(.available, AccountIdentity("a")) }
    )
    let replacer = Replacer { if case .accountCheckStarted = $0 { .noop } else { nil } }
    bench.session.appendMiddleware(replacer)
    bench.start()
    #expect(replacer.count > 0 && replacer.count < 20)
  }

  @Test("What has been delivered")
  func delivered() throws {
    let bench = SessionHarness()
    let replacer = Replacer { if case .delivered = $0 { .noop } else { nil } }
    bench.session.appendMiddleware(replacer)
    bench.start()
    try bench.modify([.note("a", 1)])
    bench.world.run()
    #expect(replacer.count > 0 && replacer.count < 20)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("What follows from a response that never came")
  func retry() throws {
    let bench = SessionHarness(script: .init(modify: { _, _ in .never }))
    let replacer = Replacer { if case .retry = $0 { .noop } else { nil } }
    bench.session.appendMiddleware(replacer)
    bench.start()
    try bench.modify([.note("a", 1)])
    bench.world.run()
    bench.world.advance(by: .seconds(400))
    // Once a second since the deadline, not for ever at it.
    #expect(replacer.count > 0 && replacer.count < 200)
  }

  @Test("A request, with another event in its place")
  func request() {
    let bench = SessionHarness()
    let replacer = Replacer { if case .startWork = $0 { .connectivityChanged } else { nil } }
    bench.session.appendMiddleware(replacer)
    bench.start()
    #expect(replacer.count > 0 && replacer.count < 20)
  }

  @Test("A request that is to hold nothing holds one item")
  func emptyRequest() throws {
    let bench = SessionHarness()
    let replacer = Replacer { event in
      guard case .startWork(var request) = event, request.mode == .modify else { return nil }
      var limits = RequestLimits()
      limits.items = 0
      request.limits = limits
      return .startWork(request)
    }
    bench.session.appendMiddleware(replacer)
    bench.start()
    try bench.modify([.note("a", 1), .note("b", 1)])
    bench.world.run()
    #expect(bench.handler.modifyCalls.count == 2)
    #expect(replacer.count == 2)
  }

  /// A fetch with a name that the session has not given.
  private struct NamedFetch: Middleware {
    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      let reduced = next(event)
      if case .start = reduced {
        var fetch = FetchOperation()
        fetch.id = context.state.nextOperationID
        context.dispatch(.doWork(.fetch(fetch)))
      }
      return reduced
    }
  }

  @Test("A fetch under a name of its own takes nobody else's")
  func namedFetch() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(NamedFetch())
    bench.start()
    let saved = Locked(0)
    for number in 0..<3 {
      let operation = ModifyOperation(records: [.note("a\(number)", 1)])
      try bench.session.modify(operation) { result in
        if case .success = result { saved.withLock { $0 += 1 } }
      }
      bench.world.run()
    }
    #expect(saved.withLock { $0 } == 3)
  }
}
