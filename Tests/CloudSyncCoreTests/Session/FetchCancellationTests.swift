import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Cancelling fetches")
struct FetchCancellationTests {
  /// A session with a run for some fetches in flight, and some that wait for the next.
  private static func bench(
    running: Int,
    waiting: Int
  ) -> (bench: SessionHarness, running: [OperationID], waiting: [OperationID]) {
    let bench = SessionHarness()
    bench.handler.change { script in
      script.fetch = { _, number in
        number == 0 ? .never : .success(.init(changeToken: ChangeToken(text: "t\(number)")))
      }
    }
    let first = (0..<running).map { _ in bench.session.fetch() }
    bench.start()
    let second = (0..<waiting).map { _ in bench.session.fetch() }
    bench.world.run()
    return (bench, first, second)
  }

  private static func failed(in bench: SessionHarness) -> [OperationID] {
    bench.failures.entries.compactMap { failure in
      if case .fetch(let operation) = failure.work { operation.id } else { nil }
    }
  }

  @Test("Fetches cancelled in any order fail as cancelled, and the others keep their order")
  func anyOrder() {
    var random = SplitMix64(seed: 3)
    var (bench, running, waiting) = Self.bench(running: 40, waiting: 40)
    var cancelled: [OperationID] = []
    for _ in 0..<60 {
      let isRunning = waiting.isEmpty || (running.count > 1 && random.chance(1, in: 2))
      let id =
        isRunning
        ? running.remove(at: random.below(running.count))
        : waiting.remove(at: random.below(waiting.count))
      bench.session.cancel(id)
      bench.session.cancel(id)
      bench.world.run()
      cancelled.append(id)
      #expect(bench.state.fetchQueue.map(\.id) == running + waiting)
    }

    #expect(Self.failed(in: bench) == cancelled)
    #expect(bench.failures.entries.allSatisfy { $0.error.code == .cancelled })
    #expect(bench.brokenInvariant == nil)
  }

  @Test("When all fetches of a run are cancelled it ends, and the next run answers those that wait")
  func wholeRun() {
    let (bench, running, waiting) = Self.bench(running: 3, waiting: 3)
    for id in running.reversed() { bench.session.cancel(id) }
    bench.session.cancel(waiting[1])
    bench.world.run()

    #expect(bench.handler.cancelled.count == 1)
    #expect(bench.pages.entries.count == 2)
    #expect(Self.failed(in: bench) == running.reversed() + [waiting[1]])
    #expect(!bench.state.hasWorkQueued)
  }

  @Test("Fetches are cancelled after a restore, and a session that waits for none changes nothing")
  func afterRestore() throws {
    let (bench, running, waiting) = Self.bench(running: 2, waiting: 3)
    let bytes = Collector<SyncArchive>()
    bench.session.snapshot { data in if let archive = try? SyncArchive(data) { bytes.add(archive) }
    }
    bench.world.run()
    let archive = try #require(bytes.entries.first)
    let again = SessionHarness(restoring: archive)
    again.session.cancel(waiting[0])
    again.session.cancel(running[1])
    again.session.cancel(OperationID(epoch: 1, number: 10_000))
    again.world.run()

    #expect(again.state.fetchQueue.map(\.id) == [running[0], waiting[1], waiting[2]])
  }

  @Test("Fetches that a middleware dispatches without a name are answered in their turn")
  func unnamed() {
    let bench = SessionHarness()
    bench.session.appendMiddleware(
      SpyMiddleware(
        react: { event, context in
          if case .retryParked = event { context.dispatch(.doWork(.fetch(FetchOperation()))) }
        }
      )
    )
    let first = bench.session.fetch()
    bench.session.retryParked()
    bench.session.retryParked()
    let last = bench.session.fetch()
    bench.world.run()
    #expect(bench.state.fetchQueue.map(\.id) == [first, .unassigned, .unassigned, last])

    bench.session.cancel(first)
    bench.session.cancel(last)
    bench.session.cancel(.unassigned)
    bench.world.run()
    #expect(bench.state.fetchQueue.map(\.id) == [.unassigned])
    bench.start()
    #expect(bench.pages.entries.count == 1)
  }
}
