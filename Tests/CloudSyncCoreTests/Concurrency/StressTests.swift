import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Many threads calling everything at once")
struct ConcurrencyStressTests {
  private static let plans: [LiveStressTest.Plan] = [
    .init(kind: .gentle, manner: .direct, seed: 1),
    .init(kind: .gentle, manner: .scattered, seed: 2),
    .init(kind: .resetting, manner: .held, seed: 5, hasCallbackQueue: true),
    .init(kind: .gentle, manner: .scattered, seed: 3, acknowledges: true),
    .init(kind: .resetting, manner: .scattered, seed: 4),
    .init(kind: .wild, manner: .scattered, seed: 8, acknowledges: true),
    .init(kind: .wild, manner: .direct, seed: 6, hasCallbackQueue: true),
    .init(kind: .wild, manner: .scattered, seed: 7),
  ]

  @Test(
    "Nothing is lost, doubled, out of order or broken, and everything ends",
    arguments: SuiteSize.some(2, of: plans)
  )
  func storm(_ plan: LiveStressTest.Plan) async throws {
    let storm = LiveStressTest(plan)
    await Crowd.run(8) { member in storm.call(as: member, times: 100) }
    #expect(await storm.settle())
    for task in storm.tasks.entries { await task.value }
    #expect(await storm.settle())
    let bytes = await storm.bytes()
    await storm.callbacks()

    #expect(storm.made.withLock { $0 } == Set(plan.kind.calls))
    #expect(storm.wrongs.entries == [])
    #expect(storm.miscounts == [])
    #expect(storm.cloud.violations == [])
    #expect(storm.session.state.brokenInvariant(.all) == nil)
    let snapshot = try SyncArchive(bytes.snapshot)
    #expect(try SyncArchive(bytes.journal).state == snapshot.state)
    let sequences = storm.sequences.entries
    #expect(sequences == Array(1...UInt64(sequences.count)))
    #expect(sequences.count >= snapshot.state.eventCount)
    #expect(wrongValues(of: storm) == [])
  }

  /// Records whose stored value is older than it must be.
  private func wrongValues(of storm: LiveStressTest) -> [String] {
    if storm.plan.kind == .wild { return [] }
    var last: [String: Int] = [:]
    for ticket in storm.tickets.withLock({ $0 }) {
      guard let edit = ticket.edit else { continue }
      if storm.plan.kind == .gentle || ticket.endings == [true] {
        last[edit.name] = edit.value
      }
    }
    return last.keys.sorted()
      .filter { name in
        guard let value = storm.cloud.stub[name]?["x"]?.int64Value else { return true }
        let wanted = Int64(last[name] ?? 0)
        return storm.plan.kind == .gentle ? value != wanted : value < wanted
      }
  }

  @Test("A session that a storm has gone over is freed with all who follow it")
  func stormAndRelease() async {
    weak var released: CloudSyncSession?
    let followers: [Task<Void, Never>]
    do {
      let storm = LiveStressTest(.init(kind: .wild, manner: .scattered, seed: 9))
      released = storm.session
      await Crowd.run(8) { member in storm.call(as: member, times: 40) }
      #expect(await storm.settle())
      for task in storm.tasks.entries { await task.value }
      followers = storm.followers.entries
    }
    for follower in followers { await follower.value }

    #expect(!followers.isEmpty)
    #expect(released == nil)
  }

  @Test("A waiter does not put off a timer that is due and has not fired yet")
  func waiterKeepsTimer() async throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0 ? .never : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    bench.world.jumpClock(by: .seconds(301))
    async let isIdle = bench.session.idle(upTo: .seconds(10_000))
    while !bench.world.hasJobs { await Task.yield() }
    bench.world.run()
    bench.world.advance(by: .seconds(400))
    let completed = bench.completions.entries.count
    bench.world.advance(by: .seconds(20_000))

    #expect(completed == 1)
    #expect(await isIdle)
  }

  /// A session that has sent a record and got a response, or none, and whose timer tells nothing.
  private func waiting(
    for answer: ScriptedHandler.Reply<ModifyOperation.Response>
  ) throws -> (VirtualEnvironment, SilentTimer, CloudSyncSession) {
    let world = VirtualEnvironment()
    let timer = SilentTimer()
    var environment = world.environment
    environment.makeTimer = { _, _ in timer }
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in answer }
    let handler = ScriptedHandler(in: world, limits: RequestLimits(), script: script)
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: SessionHarness.zoneID,
      environment: environment
    )
    session.start()
    try session.modify(ModifyOperation(records: [SessionHarness.record("r")]))
    world.run()
    return (world, timer, session)
  }

  @Test("A waiter that comes when a timer is due, and before it is told, leaves it due")
  func waiterLeavesDueTimer() throws {
    let (world, timer, session) = try waiting(for: .failure(SyncError(.networkFailure)))
    // The wait before the next attempt is over, and the timer's word is on its way.
    world.jumpClock(by: .seconds(10_000))
    let before = timer.delays.entries.count
    session.idle(upTo: .seconds(1_000_000)) { _ in }
    world.run()

    #expect(before > 0)
    #expect(timer.delays.entries.dropFirst(before) == [0])
  }

  @Test("A waiter has the timer set, whatever seems near since the clock was set forward")
  func waiterAfterClockStep() throws {
    let (world, timer, session) = try waiting(for: .never)
    // The response is waited for until ten seconds from now, says the clock; the timer has 300 to go.
    world.jumpClock(by: .seconds(290))
    session.idle(upTo: .seconds(30)) { _ in }
    world.run()

    let last = try #require(timer.delays.entries.last)
    #expect(last > 0 && last <= 30_000_000_000)
  }

  @Test("Events that come while a timer is on its way do not take it back")
  func eventsKeepTimer() throws {
    let (world, timer, session) = try waiting(for: .never)
    world.jumpClock(by: .seconds(301))
    let before = timer.delays.entries.count
    for _ in 0..<5 {
      session.connectivityChanged()
      world.run()
    }

    #expect(before > 0)
    #expect(timer.delays.entries.dropFirst(before) == [0])
  }
}

/// A timer that notes what it is set to, and never fires.
private final class SilentTimer: SyncTimer {
  let delays = Collector<Int64>()

  func schedule(after nanoseconds: Int64) { delays.add(nanoseconds) }
  func cancel() {}
}
