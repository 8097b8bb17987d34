import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("The middleware chain")
struct MiddlewareChainTests {
  private static let defaults = [
    "SplittingMiddleware", "ErrorMiddleware", "RetryMiddleware", "WorkMiddleware",
    "SubjectMiddleware", "LoggerMiddleware", "ZoneMiddleware",
  ]

  /// Writes its name down when an event reaches it and when it has been reduced.
  private static func marker(_ name: String, _ order: Collector<String>) -> SpyMiddleware {
    SpyMiddleware(
      name,
      change: { event, _ in
        if case .retryParked = event { order.add(name) }
        return event
      },
      react: { event, _ in if case .retryParked = event { order.add("/" + name) } }
    )
  }

  @Test("The default chain has the documented order")
  func defaultOrder() {
    let bench = SessionHarness()
    let order = Collector<String>()
    // Put in from the back, so that only the named neighbours decide about the places.
    for name in Self.defaults.reversed() {
      bench.session.insertMiddleware(Self.marker("before " + name, order), before: name)
      bench.session.insertMiddleware(Self.marker("after " + name, order), after: name)
    }
    bench.session.retryParked()
    bench.world.run()

    let wayIn = order.entries.filter { !$0.hasPrefix("/") }
    #expect(wayIn == Self.defaults.flatMap { ["before " + $0, "after " + $0] })
    #expect(order.entries.filter { $0.hasPrefix("/") } == wayIn.reversed().map { "/" + $0 })
  }

  @Test("Append puts at the end; insert before and after put beside the named one")
  func places() {
    let bench = SessionHarness()
    let order = Collector<String>()
    bench.session.appendMiddleware(Self.marker("1", order))
    bench.session.appendMiddleware(Self.marker("2", order))
    bench.session.insertMiddleware(Self.marker("0", order), before: "1")
    bench.session.insertMiddleware(Self.marker("1.5", order), after: "1")
    bench.session.insertMiddleware(Self.marker("first", order), before: "SplittingMiddleware")
    bench.session.insertMiddleware(Self.marker("last", order), after: "2")
    bench.session.retryParked()
    bench.world.run()

    #expect(order.entries.prefix(6) == ["first", "0", "1", "1.5", "2", "last"])
  }

  @Test("One that joins later sees the events from then on")
  func joinsLater() throws {
    let bench = SessionHarness()
    bench.start()
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()

    #expect(spy.names == ["doWork", "startWork", "workSuccess"])
  }

  @Test("The state before next is the old one, after it the new one")
  func states() {
    let bench = SessionHarness()
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    bench.start()

    #expect(spy.sights.entries.allSatisfy { $0.after.eventCount == $0.before.eventCount + 1 })
    #expect(spy.first("start")?.before.isRunning == false)
    #expect(spy.first("start")?.after.isRunning == true)
  }

  @Test("A middleware may change an event; those after it and the log see the changed one")
  func changesEvents() throws {
    let bench = SessionHarness()
    let spy = SpyMiddleware(
      change: { event, _ in
        guard case .halt(let error) = event else { return event }
        return .halt(SyncError(error.code, "by the user"))
      }
    )
    bench.session.appendMiddleware(spy)
    bench.start()
    bench.session.stop()
    bench.world.run()

    #expect(bench.state.haltReason?.error.message == "by the user")
    #expect(bench.halts.entries.last??.message == "by the user")
    #expect(bench.events.entries.last?.event == .halt(SyncError(.stopped, "by the user")))
  }

  @Test("A middleware may drop an event: what was called has then not happened")
  func dropsEvents() throws {
    let bench = SessionHarness()
    let drop = SpyMiddleware(
      change: { event, _ in if case .doWork(.modify) = event { .noop } else { event } }
    )
    bench.session.insertMiddleware(drop, before: "SplittingMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    #expect(bench.handler.modifyCalls.isEmpty && bench.state.modifyQueue.isEmpty)
    #expect(bench.events.entries.contains { $0.event == .noop })
    #expect(bench.brokenInvariant == nil)
  }

  @Test("What it dispatches is reduced next, in the order asked, before the next input")
  func dispatches() throws {
    let bench = SessionHarness()
    let spy = SpyMiddleware(
      react: { event, context in
        guard case .retryParked = event else { return }
        context.dispatch(.doWork(.fetch(FetchOperation())))
        context.dispatch(.connectivityChanged)
      }
    )
    bench.session.appendMiddleware(spy)
    bench.start()
    let start = bench.events.entries.count
    bench.session.retryParked()
    bench.session.stop()
    bench.world.run()

    let records = bench.events.entries.dropFirst(start)
    #expect(
      records.map(\.event.name).prefix(5)
        == ["retryParked", "doWork", "connectivityChanged", "startWork", "halt"]
    )
    let asked = records.first?.sequence
    #expect(records.dropFirst().prefix(2).allSatisfy { $0.origin == .middleware })
    #expect(records.dropFirst().prefix(2).allSatisfy { $0.cause == asked })
  }

  @Test("It may hold a request back and have the session look again at a time")
  func wakes() throws {
    let bench = SessionHarness()
    let opening = bench.world.now.advanced(byNanoseconds: 5_000_000_000)
    let holding = SpyMiddleware(
      change: { event, context in
        if case .startWork = event, context.now < opening { .noop } else { event }
      },
      react: { _, context in if context.now < opening { context.wake(at: opening) } }
    )
    bench.session.insertMiddleware(holding, before: "SplittingMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(4))
    #expect(bench.handler.calls.isEmpty)

    bench.world.advance(by: .seconds(2))

    #expect(bench.handler.calls.map(\.time) == [opening, opening, opening])
    #expect(holding.all("woke").map(\.origin) == [.timer])
  }

  @Test("Its attachment events are taken when it joins")
  func attachment() {
    struct Joining: Middleware {
      let name = "Joining"
      var attachmentEvents: [SyncEvent] { [.connectivityChanged, .start] }
      func run(
        event: SyncEvent,
        context: MiddlewareContext,
        next: (SyncEvent) -> SyncEvent
      ) -> SyncEvent {
        next(event)
      }
    }
    let bench = SessionHarness()
    bench.session.appendMiddleware(Joining())
    bench.world.run()

    #expect(bench.state.hasStarted)
    #expect(bench.events.entries.first?.event == .connectivityChanged)
  }

  @Test("A name is that of the type unless the middleware says otherwise")
  func names() {
    #expect(SplittingMiddleware().name == "SplittingMiddleware")
    #expect(ErrorMiddleware().name == "ErrorMiddleware")
    #expect(RetryMiddleware().name == "RetryMiddleware")
    #expect(WorkMiddleware().name == "WorkMiddleware")
    #expect(SubjectMiddleware().name == "SubjectMiddleware")
    #expect(LoggerMiddleware(sink: nil).name == "LoggerMiddleware")
    #expect(ZoneMiddleware().name == "ZoneMiddleware")
    #expect(AccountStatusMiddleware { $0(.available, nil) }.name == "AccountStatusMiddleware")
    #expect(SpyMiddleware("Own").name == "Own")
  }
}
