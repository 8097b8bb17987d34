import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("WorkMiddleware")
struct WorkMiddlewareTests {
  /// A handler that answers every modification after a second.
  private let slow = ScriptedHandler.Script(
    modify: { operation, _ in
      .after(.seconds(1), .success(ScriptedHandler.allSaved(operation)))
    }
  )

  @Test("One request is in flight at a time, whatever is asked for meanwhile")
  func oneAtATime() throws {
    let bench = SessionHarness(script: slow)
    bench.start()
    for number in 0..<5 {
      try bench.modify([SessionHarness.record("r\(number)")])
      bench.session.fetch()
      bench.world.run()
      #expect(bench.handler.modifyCalls.count == 1 && bench.handler.fetchCalls.isEmpty)
    }

    bench.world.advance(by: .seconds(10))

    #expect(bench.handler.modifyCalls.map(\.names.count) == [1, 4])
    #expect(!bench.state.hasWorkQueued)
  }

  @Test("Every call of the handler follows from one request event, with its attempt")
  func callsFollowFromEvents() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 2), script: slow)
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    try bench.modify((0..<7).map { SessionHarness.record("r\($0)") })
    bench.session.fetch()
    bench.start()
    bench.world.advance(by: .seconds(60))

    let requests = spy.sights.entries.filter { ["startWork", "retryWork"].contains($0.event.name) }
    #expect(requests.map { $0.after.flight?.attempt } == bench.handler.calls.map(\.attempt))
    #expect(requests.allSatisfy { $0.origin == .middleware && $0.cause != nil })
    #expect(bench.handler.calls.map(\.attempt.number) == Array(1...7))
  }

  @Test("Nothing is sent before start, while stopped, or while the gate is closed")
  func waits() throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        number == 0
          ? .failure(.zoneBusy, retryAfter: .seconds(60))
          : .success(ScriptedHandler.allSaved(operation))
      })
    )
    try bench.modify([SessionHarness.record("a")])
    bench.world.advance(by: .seconds(60))
    #expect(bench.handler.calls.isEmpty)

    bench.start()
    #expect(bench.handler.modifyCalls.count == 1)
    try bench.modify([SessionHarness.record("b")])
    bench.world.advance(by: .seconds(30))
    #expect(bench.handler.modifyCalls.count == 1)

    bench.session.stop()
    bench.world.advance(by: .seconds(600))
    #expect(bench.handler.modifyCalls.count == 1)

    bench.session.start()
    bench.world.run()
    #expect(bench.handler.modifyCalls.last?.names == ["a", "b"])
  }

  @Test("A request whose response was lost is asked for as retryWork")
  func retryWork() throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        number == 0
          ? .failure(.serverResponseLost) : .success(ScriptedHandler.allSaved(operation))
      })
    )
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(60))

    #expect(
      spy.names.filter { $0.hasSuffix("Work") }
        == ["doWork", "doWork", "doWork", "startWork", "startWork", "startWork", "retryWork"]
    )
  }

  @Test("A call that is given up is cancelled: by the deadline, reset, and a fetch's cancellation")
  func cancels() throws {
    let bench = SessionHarness(
      script: .init(modify: { _, _ in .never }, fetch: { _, _ in .never })
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.advance(by: .seconds(301))
    #expect(bench.handler.cancelled.map(\.number) == [3])

    bench.session.reset()
    bench.world.run()
    #expect(bench.handler.cancelled.count <= 2)

    bench.session.start()
    let fetch = bench.session.fetch()
    bench.world.run()
    let attempt = try #require(bench.handler.fetchCalls.last?.attempt)
    bench.session.cancel(fetch)
    bench.world.run()

    #expect(bench.handler.cancelled.last == attempt)
    #expect(bench.failures.entries.last?.error.code == .cancelled)
  }

  @Test("stop and a response that comes in time cancel nothing")
  func doesNotCancel() throws {
    let bench = SessionHarness(script: slow)
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    bench.session.stop()
    bench.world.advance(by: .seconds(10))

    #expect(bench.handler.cancelled.isEmpty)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A request that a middleware drops is asked for again at the next input, not for ever")
  func dropped() throws {
    let isExpensive = Locked(true)
    let bench = SessionHarness()
    let thrifty = SpyMiddleware(
      "Thrifty",
      change: { event, _ in
        guard isExpensive.withLock({ $0 }), case .startWork = event else { return event }
        return .noop
      }
    )
    bench.session.insertMiddleware(thrifty, before: "SplittingMiddleware")
    try bench.modify([SessionHarness.record("a")])

    bench.start()
    bench.world.advance(by: .seconds(3_600))
    #expect(bench.handler.calls.isEmpty && thrifty.all("startWork").count < 5)

    isExpensive.withLock { $0 = false }
    bench.session.connectivityChanged()
    bench.world.run()

    #expect(bench.completions.entries.count == 1)
  }
}
