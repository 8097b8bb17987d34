import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("VirtualEnvironment")
struct VirtualEnvironmentTests {
  private let world = VirtualEnvironment()
  private let journal = Collector<String>()

  /// Notes what happened and how many seconds after the beginning.
  private func note(_ text: String) {
    journal.add("\(text)@\(world.elapsed.components.seconds)")
  }

  @Test("Jobs run in the order given, those given by jobs last, and time stands still")
  func jobsInOrder() {
    let first = world.environment.makeExecutor()
    let second = world.environment.makeExecutor()
    first.run {
      second.run { note("c") }
      note("a")
    }
    second.run { note("b") }
    #expect(world.hasJobs)

    world.run()

    #expect(journal.entries == ["a@0", "b@0", "c@0"])
    #expect(world.now == Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    #expect(world.isIdle)
  }

  @Test("Appointments fire by time and then by the order of scheduling, each at its own time")
  func appointmentsInOrder() {
    for (delay, name) in [(2, "b"), (1, "a"), (2, "c"), (3, "d"), (0, "z")] as [(Int64, String)] {
      world.schedule(afterNanoseconds: delay * 1_000_000_000) { note(name) }
    }

    world.advance(by: .seconds(2))

    #expect(journal.entries == ["z@0", "a@1", "b@2", "c@2"])
    #expect(world.elapsed == .seconds(2))
    #expect(!world.isIdle)
  }

  @Test("What is scheduled by a job runs within the same advance, if it is due")
  func reentrantScheduling() {
    world.schedule(afterNanoseconds: 1_000_000_000) {
      note("a")
      world.schedule(afterNanoseconds: 1_000_000_000) { note("b") }
      world.schedule(afterNanoseconds: 9_000_000_000) { note("c") }
    }

    world.advance(by: .seconds(5))

    #expect(journal.entries == ["a@1", "b@2"])
    #expect(world.elapsed == .seconds(5))
  }

  @Test("A timer fires once for its latest scheduling, and not after cancel")
  func timer() {
    let timer = world.environment.makeTimer(world.executor) { note("fired") }
    timer.schedule(after: 1_000_000_000)
    timer.schedule(after: 3_000_000_000)
    world.advance(by: .seconds(10))
    timer.schedule(after: 1_000_000_000)
    timer.cancel()
    world.advance(by: .seconds(10))
    timer.schedule(after: -5)

    world.run()

    #expect(journal.entries == ["fired@3", "fired@20"])
  }

  @Test("A timer that is cancelled while its firing waits on the executor does not fire")
  func timerCancelledLate() {
    let timers = Locked<[any SyncTimer]>([])
    let executor = SyncExecutor { job in
      world.enqueue { for timer in timers.withLock({ $0 }) { timer.cancel() } }
      world.enqueue(job)
    }
    let timer = world.environment.makeTimer(executor) { note("fired") }
    timers.withLock { $0 = [timer] }
    timer.schedule(after: 0)

    world.run()
    timers.withLock { $0 = [] }

    #expect(world.isIdle)
    #expect(journal.entries.isEmpty)
  }

  @Test("A released timer leaves nothing behind")
  func timerReleased() {
    var timers = [world.environment.makeTimer(world.executor) { note("fired") }]
    timers[0].schedule(after: 1)
    #expect(!world.isIdle)

    timers = []

    #expect(world.isIdle)
  }

  @Test("runToEnd jumps from timer to timer, and stops at its limit")
  func runToEnd() {
    let timers = Locked<[any SyncTimer]>([])
    let timer = world.environment.makeTimer(world.executor) {
      note("tick")
      for timer in timers.withLock({ $0 }) { timer.schedule(after: 3_600_000_000_000) }
    }
    timers.withLock { $0.append(timer) }
    timer.schedule(after: 0)

    let isOver = world.runToEnd(limit: .seconds(8_000))
    timers.withLock { $0 = [] }
    timer.cancel()

    #expect(!isOver)
    #expect(journal.entries == ["tick@0", "tick@3600", "tick@7200"])
    #expect(world.elapsed == .seconds(8_000))
    #expect(world.runToEnd())
    #expect(world.elapsed == .seconds(8_000))
  }

  @Test("Setting the wall clock moves no timer")
  func jumpClock() {
    world.schedule(afterNanoseconds: 2_000_000_000) { note("due") }
    let before = world.now

    world.jumpClock(by: .seconds(-1_000))
    world.advance(by: .seconds(3))

    #expect(journal.entries == ["due@2"])
    #expect(world.now.nanoseconds - before.nanoseconds == -997_000_000_000)
  }

  @Test("Nonces count up, across copies of the environment")
  func nonces() {
    #expect(world.environment.nonce() == 1)
    #expect(world.environment.nonce() == 2)
  }
}
