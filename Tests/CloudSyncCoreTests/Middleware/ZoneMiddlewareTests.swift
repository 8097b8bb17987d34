import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ZoneMiddleware")
struct ZoneMiddlewareTests {
  private func created(_ bench: SessionHarness) -> [OperationMode] {
    bench.handler.calls.map(\.mode).filter { $0 == .createZone || $0 == .createSubscription }
  }

  @Test("On start it queues the zone and then the subscription, before all other work")
  func onStart() throws {
    let bench = SessionHarness()
    try bench.modify([SessionHarness.record("a")])
    bench.session.fetch()

    bench.start()

    #expect(bench.handler.calls.map(\.mode) == [.createZone, .createSubscription, .modify, .fetch])
    #expect(bench.state.hasCreatedZone == true && bench.state.hasCreatedSubscription == true)
  }

  @Test("Nothing but start makes it queue anything")
  func onlyStart() throws {
    let bench = SessionHarness()
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    try bench.modify([SessionHarness.record("a")])
    bench.session.stop()
    bench.session.connectivityChanged()
    bench.session.retryNow()
    bench.session.accountDidChange()
    bench.world.run()

    #expect(spy.all("doWork").count == 1)
    #expect(bench.handler.calls.isEmpty)
  }

  @Test("What is known to exist is not created again")
  func onceOnly() {
    let bench = SessionHarness()
    bench.start()
    for _ in 0..<3 {
      bench.session.stop()
      bench.session.start()
      bench.world.run()
    }

    #expect(created(bench) == [.createZone, .createSubscription])
  }

  @Test("A start while the creation is on its way does not double it")
  func whileCreating() {
    let bench = SessionHarness(
      script: .init(createZone: { _ in .after(.seconds(1), .success(true)) })
    )
    for _ in 0..<3 {
      bench.session.start()
      bench.world.run()
    }
    bench.world.advance(by: .seconds(5))

    #expect(created(bench) == [.createZone, .createSubscription])
  }

  @Test("After reset both are asked for again; a refusal is asked for again at the next start")
  func again() {
    let bench = SessionHarness(
      script: .init(createSubscription: { number in
        number == 1 ? .failure(.permissionFailure) : .success(true)
      })
    )
    bench.start()
    bench.session.reset()
    bench.world.run()
    #expect(created(bench).count == 2)

    bench.session.start()
    bench.world.run()
    #expect(bench.state.hasCreatedSubscription == false)
    bench.session.start()
    bench.world.run()

    #expect(
      created(bench) == [
        .createZone, .createSubscription, .createZone, .createSubscription, .createSubscription,
      ]
    )
    #expect(bench.state.hasCreatedSubscription == true)
  }
}
