import Dispatch
import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("SyncEnvironment.live")
struct SyncEnvironmentLiveTests {
  private let live = SyncEnvironment.live

  @Test(
    "A clock that is set out of all bounds tells the next time that there is",
    arguments: [
      (0, 5), (1_764_115_200, 1_764_115_200_000_000_005),
      (32_503_680_000, 9_000_000_000_000_000_005),
      (-62_135_596_800, -8_999_999_999_999_999_995), (Int64.max, 9_000_000_000_000_000_005),
      (.min, -8_999_999_999_999_999_995),
    ] as [(Int64, Int64)]
  )
  func clockOutOfBounds(seconds: Int64, expected: Int64) {
    #expect(SyncEnvironment.nanoseconds(seconds: seconds, rest: 5) == expected)
  }

  @Test("A timer fires on its executor, and again when it is scheduled again")
  func timerFires() async {
    let (fired, continuation) = AsyncStream.makeStream(of: Void.self)
    let executor = live.makeExecutor()
    let timer = live.makeTimer(executor) { continuation.yield() }
    var iterator = fired.makeAsyncIterator()

    timer.schedule(after: 1_000_000)
    #expect(await iterator.next() != nil)
    timer.schedule(after: -1)
    #expect(await iterator.next() != nil)
  }

  @Test("A timer's deadline is exact, and never beyond what Dispatch counts")
  func deadlines() {
    let start = DispatchTime(uptimeNanoseconds: 5)
    let minute: Int64 = 60_000_000_000

    #expect(DispatchTimer.deadline(after: minute, from: start).uptimeNanoseconds == 60_000_000_005)
    #expect(DispatchTimer.deadline(after: -1, from: start) == start)
    #expect(DispatchTimer.deadline(after: .max, from: start) == .distantFuture)
  }

  @Test("On its executor, a timer that was rescheduled or cancelled does not fire for the old time")
  func timerIsReplaced() async {
    let journal = Collector<String>()
    let executor = live.makeExecutor()
    let timers = Locked<[any SyncTimer]>([])  // Holds them until the test is over.
    let cancelled = live.makeTimer(executor) { journal.add("cancelled") }
    let replaced = live.makeTimer(executor) { journal.add("replaced") }

    await withCheckedContinuation { continuation in
      let last = live.makeTimer(executor) { continuation.resume() }
      executor.run {
        cancelled.schedule(after: 0)
        replaced.schedule(after: 0)
        cancelled.cancel()
        replaced.schedule(after: .max)
        last.schedule(after: 5_000_000)
      }
      timers.withLock { $0 = [cancelled, replaced, last] }
    }

    #expect(journal.entries.isEmpty)
    timers.withLock { $0 = [] }
  }

  @Test("Timers are released in every condition, and their closures with them")
  func timersAreReleased() {
    final class Token: Sendable {}
    weak var token: Token?
    do {
      let made = Token()
      token = made
      let executor = SyncExecutor { _ in }
      let idle = live.makeTimer(executor) { _ = made }
      let scheduled = live.makeTimer(executor) { _ = made }
      let cancelled = live.makeTimer(executor) { _ = made }
      scheduled.schedule(after: 3_600_000_000_000)
      cancelled.schedule(after: 3_600_000_000_000)
      cancelled.cancel()
      withExtendedLifetime(idle) {}
    }

    #expect(token == nil)
  }

  @Test("Jobs of one executor run one after the other, in the order given")
  func executorIsSerial() async {
    let journal = Collector<Int>()
    let executor = live.makeExecutor()

    for number in 0..<1_000 { executor.run { journal.add(number) } }
    await withCheckedContinuation { continuation in
      executor.run { continuation.resume() }
    }

    #expect(journal.entries == Array(0..<1_000))
  }

  @Test("The clock shows a time of this century, and nonces differ")
  func clockAndNonce() {
    #expect(live.now().nanoseconds > 1_700_000_000_000_000_000)
    #expect(live.nonce() != live.nonce())
  }
}

@Suite("SyncExecutor")
struct SyncExecutorTests {
  @Test("The immediate executor runs a job before run returns, nested ones inside")
  func immediate() {
    let journal = Collector<Int>()

    SyncExecutor.immediate.run {
      SyncExecutor.immediate.run { journal.add(1) }
      journal.add(2)
    }

    #expect(journal.entries == [1, 2])
  }

  @Test("A dispatch queue runs jobs in order")
  func queue() async {
    let journal = Collector<Int>()
    let executor = SyncExecutor.queue(DispatchQueue(label: "test"))

    await withCheckedContinuation { continuation in
      executor.run { journal.add(1) }
      executor.run { continuation.resume() }
    }

    #expect(journal.entries == [1])
  }
}
