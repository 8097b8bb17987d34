import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("RetryMiddleware")
struct RetryMiddlewareTests {
  private let away = ScriptedHandler.Script(modify: { _, _ in .failure(.networkUnavailable) })

  @Test("It gives every wait its length, which grows, is jittered, and has a cap")
  func lengths() throws {
    let bench = SessionHarness(script: away)
    let spies = bench.spies(around: "RetryMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(7_200))

    let before = spies.before.all("retry").compactMap { Self.wait($0.event) }
    let after = spies.after.all("retry").compactMap { Self.wait($0.event)?.nanoseconds }
    #expect(before.allSatisfy { $0.nanoseconds == nil && $0.cause == .network })
    for (number, length) in after.enumerated() {
      let full = min(600, 1 << min(number, 20)) * 1_000_000_000
      #expect((Int64(full) / 2...Int64(full)).contains(length))
    }
    #expect(after.count > 15 && Set(after).count == after.count)
  }

  @Test("Devices that failed together do not return together")
  func jitter() {
    let lengths = (0..<64)
      .map { nonce in
        SyncState(zoneID: SessionHarness.zoneID, nonce: nonce).waitLength(for: Wait(.network))
      }

    #expect(Set(lengths).count == 64)
    let spread = (lengths.max() ?? 0) - (lengths.min() ?? 0)
    #expect(spread > 350_000_000)
  }

  @Test("The session sends again when the wait is over, not before and not later")
  func wakesInTime() throws {
    let bench = SessionHarness(script: away)
    let spies = bench.spies(around: "RetryMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(100))

    let lengths = spies.after.all("retry").compactMap { Self.wait($0.event)?.nanoseconds }
    let times = bench.handler.modifyCalls.map(\.time)
    for ((call, next), length) in zip(zip(times, times.dropFirst()), lengths) {
      #expect(call.distance(to: next) == length)
    }
    #expect(times.count > 5)
  }

  @Test("A length that a middleware before it has decided is kept")
  func decidedBefore() throws {
    let bench = SessionHarness(script: away)
    let patient = SpyMiddleware(
      "Patient",
      change: { event, _ in
        guard case .retry(let attempt, var retry) = event else { return event }
        retry.wait.nanoseconds = 42_000_000_000
        return .retry(attempt, retry)
      }
    )
    bench.session.insertMiddleware(patient, before: "RetryMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    bench.world.advance(by: .seconds(200))

    let times = bench.handler.modifyCalls.map(\.time)
    #expect(times.count == 5)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0.distance(to: $1) == 42_000_000_000 })
  }

  @Test("After a success waits begin afresh; start and connectivityChanged begin them afresh too")
  func afresh() throws {
    let isAway = Locked(true)
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      isAway.withLock { $0 }
        ? .failure(.networkFailure) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(600))
    #expect(bench.state.retryCount > 5 && bench.state.lastRetryError?.code == .networkFailure)

    for trigger in [bench.session.start, bench.session.connectivityChanged] {
      trigger()
      bench.world.run()
      #expect(bench.state.retryCount == 1)
      bench.world.advance(by: .seconds(600))
    }
    isAway.withLock { $0 = false }
    bench.world.advance(by: .seconds(600))

    #expect(bench.state.retryCount == 0 && bench.state.lastRetryError == nil)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A clock set back costs at most one more wait; one set forward ends it early")
  func clockJumps() throws {
    let bench = SessionHarness(
      script: .init(modify: { _, _ in .failure(.zoneBusy, retryAfter: .seconds(60)) })
    )
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.jumpClock(by: .seconds(-1_000_000))
    bench.session.connectivityChanged()

    bench.world.advance(by: .seconds(70))
    #expect(bench.handler.modifyCalls.count == 2)

    bench.world.jumpClock(by: .seconds(1_000_000))
    bench.session.connectivityChanged()
    bench.world.run()
    #expect(bench.handler.modifyCalls.count == 3)
  }

  private static func wait(_ event: SyncEvent) -> Wait? {
    if case .retry(_, let retry) = event { retry.wait } else { nil }
  }
}
