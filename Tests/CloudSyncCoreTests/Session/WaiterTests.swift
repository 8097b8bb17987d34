import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Waiting for a session while the clock is set")
struct WaiterTests {
  /// A session with work that nothing sends: only a waiter sets its timer.
  private static func bench() throws -> SessionHarness {
    let bench = SessionHarness()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    return bench
  }

  /// Lets a call begin to wait, sets the clock, and lets time pass.
  ///
  /// - Returns: Whether nobody waits any more after that time.
  private static func isServed(
    in bench: SessionHarness,
    afterJumpOf jump: Duration,
    andWaitOf wait: Duration
  ) async -> Bool {
    while !bench.world.hasJobs { await Task.yield() }
    bench.world.advance(by: .seconds(1))
    bench.world.jumpClock(by: jump)
    bench.world.advance(by: wait)
    let isServed = bench.world.isIdle
    // Long enough for a wait that goes by the clock, so that the test fails and does not hang.
    bench.world.advance(by: .seconds(200_000))
    return isServed
  }

  @Test(
    "A clock set back or forward costs a waiter at most one more wait",
    arguments: [-86_400, -3_600, -60, 60, 3_600, 86_400]
  )
  func clockIsSet(seconds: Int) async throws {
    let bench = try Self.bench()
    async let isIdle = bench.session.idle(upTo: .seconds(10))
    let isServed = await Self.isServed(
      in: bench,
      afterJumpOf: .seconds(seconds),
      andWaitOf: .seconds(20)
    )

    #expect(isServed)
    #expect(await isIdle == false)
  }

  @Test(
    "A clock set back between the call and its turn costs no more either",
    arguments: [-86_400, -60, 3_600]
  )
  func clockIsSetBeforeTheTurn(seconds: Int) async throws {
    let bench = try Self.bench()
    async let isIdle = bench.session.idle(upTo: .seconds(10))
    while !bench.world.hasJobs { await Task.yield() }
    bench.world.jumpClock(by: .seconds(seconds))
    bench.world.advance(by: .seconds(20))
    let isServed = bench.world.isIdle
    bench.world.advance(by: .seconds(200_000))

    #expect(isServed)
    #expect(await isIdle == false)
  }

  @Test("A push handler is answered in time although the clock is set back")
  func fetchNow() async throws {
    let bench = try Self.bench()
    async let outcome = bench.session.fetchNow(upTo: .seconds(20))
    let isServed = await Self.isServed(
      in: bench,
      afterJumpOf: .seconds(-3_600),
      andWaitOf: .seconds(40)
    )

    #expect(isServed)
    #expect(await outcome == .failed)
  }

  @Test("Of many who wait each is told in its own time, and the others when all is done")
  func many() async throws {
    let bench = SessionHarness()
    bench.handler.change { script in script.modify = { _, _ in .never } }
    bench.start()
    let id = try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    let begun = Collector<Int>()
    let session = bench.session
    let results = await withTaskGroup(of: (Int, Bool).self) { group in
      // Every other one has less time than there will be.
      for number in 0..<20 {
        group.addTask {
          begun.add(number)
          let limit = number % 2 == 0 ? 100 + number : 10_000 + number
          return (number, await session.idle(upTo: .seconds(limit)))
        }
      }
      var jobs = 0
      while begun.entries.count < 20 || jobs < 1_000 {
        bench.world.run()
        jobs += 1
        await Task.yield()
      }
      bench.world.advance(by: .seconds(150))
      session.reset()
      _ = id
      bench.world.run()
      return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
    }

    #expect(results.count == 20)
    for (number, isIdle) in results { #expect(isIdle == (number % 2 == 1)) }
  }

  @Test("Events after the clock was set back do not begin the wait anew")
  func eventsDoNotProlong() async throws {
    let bench = try Self.bench()
    async let isIdle = bench.session.idle(upTo: .seconds(10))
    while !bench.world.hasJobs { await Task.yield() }
    bench.world.advance(by: .seconds(1))
    bench.world.jumpClock(by: .seconds(-3_600))
    for _ in 0..<12 {
      bench.session.connectivityChanged()
      bench.world.advance(by: .seconds(1))
    }
    let isServed = bench.world.isIdle
    bench.world.advance(by: .seconds(200_000))

    #expect(isServed)
    #expect(await isIdle == false)
  }
}
