import CloudSyncCore
import CloudSyncSimulator
import Testing

@Suite("SimulatedEnvironment")
struct EnvironmentTests {
  /// What happened, in order.
  private final class Notes: Sendable {
    private let storage = Locked<[String]>([])
    var all: [String] { storage.withLock { $0 } }
    func add(_ text: String) { storage.withLock { $0.append(text) } }
  }

  @Test("What is due at the same time happens in the order in which it was scheduled")
  func order() {
    let world = SimulatedEnvironment()
    let notes = Notes()
    world.schedule(after: .seconds(2)) { notes.add("late") }
    world.schedule(after: .seconds(1)) { notes.add("first") }
    world.schedule(after: .seconds(1)) {
      notes.add("second")
      world.enqueue { notes.add("follows") }
    }
    let gone = world.schedule(after: .seconds(1)) { notes.add("cancelled") }
    world.cancel(gone)

    world.advance(by: .seconds(1))
    #expect(notes.all == ["first", "second", "follows"])
    #expect(world.elapsed == .seconds(1))
    #expect(world.runToEnd())
    #expect(notes.all.last == "late")
    #expect(world.isIdle)
  }

  @Test("A timer fires once, and never after it was cancelled or set again")
  func timers() {
    let world = SimulatedEnvironment()
    let notes = Notes()
    let environment = world.environment
    let timer = environment.makeTimer(world.executor) { notes.add("fired") }
    timer.schedule(after: 1_000)
    timer.schedule(after: 5_000)
    world.advance(by: .microseconds(4))
    #expect(notes.all.isEmpty)
    world.advance(by: .microseconds(1))
    #expect(notes.all == ["fired"])
    timer.schedule(after: 1)
    timer.cancel()
    world.advance(by: .seconds(1))
    #expect(notes.all == ["fired"])
    withExtendedLifetime(timer) {}
  }

  @Test("Clocks differ and jump, timers do not notice")
  func clocks() {
    let world = SimulatedEnvironment()
    let clock = SimulatedClock(in: world, skew: .seconds(-60))
    #expect(clock.now.distance(to: world.now) == 60_000_000_000)
    clock.jump(by: .seconds(90))
    #expect(world.now.distance(to: clock.now) == 30_000_000_000)
    world.advance(by: .seconds(1))
    #expect(world.now.distance(to: clock.now) == 30_000_000_000)
  }

  @Test("A stalled process keeps the order of its jobs, one that has ended runs none")
  func processes() {
    let world = SimulatedEnvironment()
    let process = SimulatedProcess(in: world)
    let other = SimulatedProcess(in: world)
    let notes = Notes()
    let executor = process.executor
    executor.run { notes.add("1") }
    process.stall()
    executor.run { notes.add("2") }
    other.executor.run { notes.add("other") }
    world.run()
    #expect(notes.all == ["other"])
    executor.run { notes.add("3") }
    process.release()
    executor.run { notes.add("4") }
    world.run()
    #expect(notes.all == ["other", "1", "2", "3", "4"])

    executor.run { notes.add("never") }
    process.end()
    executor.run { notes.add("never") }
    world.run()
    #expect(notes.all.count == 5)
    #expect(!process.isAlive)
  }

  @Test("A world whose jobs never end is stuck, and says so")
  func stuck() {
    let world = SimulatedEnvironment(jobLimit: 1_000)
    @Sendable func again() { world.enqueue { again() } }
    again()
    world.run()
    #expect(world.isStuck)
    #expect(!world.runToEnd())
  }

  @Test("Time passes only as long as a condition holds")
  func condition() {
    let world = SimulatedEnvironment()
    let notes = Notes()
    for second in 1...9 { world.schedule(after: .seconds(second)) { notes.add("\(second)") } }
    #expect(world.run(while: { notes.all.count < 3 }, limit: .seconds(60)))
    #expect(world.elapsed == .seconds(3))
    #expect(!world.run(while: { true }, limit: .seconds(2)))
    #expect(notes.all.count == 5)
  }

  @Test("A session runs in a simulated world")
  func session() throws {
    let world = SimulatedEnvironment()
    let handler = ScriptedOperationHandler(
      in: world,
      [
        .createZone(), .createSubscription(),
        .modify(saving: ["a"], .failure(SyncError(.networkFailure))),
        .modify(saving: ["a"], .after(.seconds(1), .success)),
      ]
    )
    let zoneID = ZoneID(name: "Notes")
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: zoneID,
      environment: world.environment
    )
    session.start()
    try session.modify(
      ModifyOperation(
        records: [Record(recordType: "Note", recordID: RecordID(name: "a", zoneID: zoneID))]
      )
    )
    world.advance(by: .seconds(30))

    #expect(handler.mismatches == [])
    #expect(handler.remaining.isEmpty)
    #expect(!session.state.hasWorkQueued)
  }
}
