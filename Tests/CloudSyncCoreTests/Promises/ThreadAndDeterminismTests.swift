import CloudSyncCore
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Threads, observation and determinism")
struct ThreadAndDeterminismTests {
  /// A middleware that does nothing but bear a name.
  private struct Named: Middleware {
    let name: String
    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      next(event)
    }
  }

  /// A session of the real world over a cloud that answers at once.
  private static func liveSession(gate: SyncGate? = nil, cloud: StubCloud) -> CloudSyncSession {
    CloudSyncSession(operationHandler: cloud, zoneID: SessionHarness.zoneID, gate: gate)
  }

  // MARK: Threads

  @Test("Middleware may be appended from any thread while events pass")
  func appendWhileDispatching() async throws {
    let cloud = StubCloud()
    let session = Self.liveSession(cloud: cloud)
    session.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for step in 0..<10 {
            session.appendMiddleware(Named(name: "M\(task).\(step)"))
            try session.modify(ModifyOperation(records: [.note("r\(task)", step)]))
            session.fetch()
            _ = session.state.hasWorkQueued
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(await session.idle(upTo: .seconds(1_000_000)))

    #expect((0..<8).allSatisfy { cloud["r\($0)"]?["x"] == 9 })
    #expect(cloud.violations == [])
    #expect(session.state.brokenInvariant(.all) == nil)
  }

  @Test("Sessions that share a gate and a cloud wait together, on all threads")
  func sharedGate() async throws {
    let gate = SyncGate()
    let session = { @Sendable () -> (CloudSyncSession, StubCloud) in
      let cloud = StubCloud { number, _ in
        number % 5 == 4 ? .failure(.zoneBusy, retryAfter: .milliseconds(1)) : nil
      }
      return (Self.liveSession(gate: gate, cloud: cloud), cloud)
    }
    let all = (0..<4).map { _ in session() }
    await withTaskGroup(of: Void.self) { group in
      for (session, _) in all {
        group.addTask {
          session.start()
          for step in 0..<20 {
            _ = try? await session.perform(ModifyOperation(records: [.note("r", step)]))
          }
        }
        group.addTask { for _ in 0..<50 { session.connectivityChanged() } }
      }
    }

    for (session, cloud) in all {
      #expect(cloud["r"]?["x"] == 19)
      #expect(cloud.violations == [])
      #expect(session.state.brokenInvariant(.all) == nil)
    }
  }

  @Test("Stop, modify and reset from one thread are taken in order, every time")
  func callsInOrder() async throws {
    for round in 0..<100 {
      let cloud = StubCloud()
      let session = Self.liveSession(cloud: cloud)
      let failed = Locked(0)
      session.start()
      session.stop()
      for index in 0..<10 {
        try session.modify(ModifyOperation(records: [.note("old", index)])) { result in
          if case .failure(let error) = result, error.code == .reset {
            failed.withLock { $0 += 1 }
          }
        }
      }
      session.reset()
      let id = try session.modify(ModifyOperation(records: [.note("new", round)]))
      _ = await session.snapshot()

      #expect(session.state.isHalted == false)
      #expect(session.state.modifyQueue.map(\.id) == [id])
      #expect(failed.withLock { $0 } == 10)
    }
  }

  @Test("Two calls in a row keep their order on a live session, every time")
  func callsKeepOrder() async throws {
    for round in 0..<SuiteSize.count(2, long: 20) {
      let cloud = StubCloud()
      let session = Self.liveSession(cloud: cloud)
      if round % 2 == 0 { session.start() }
      try session.modify(ModifyOperation(records: (0..<800).map { .note("r\($0)", 1) }))
      try session.modify(ModifyOperation(records: [.note("r0", 2)]))
      session.start()
      #expect(await session.idle(upTo: .seconds(1_000_000)))

      #expect(cloud["r0"]?["x"] == 2)
    }
  }

  @Test("Results can be awaited, and a reset ends the wait with its code")
  func awaitedResults() async throws {
    let session = Self.liveSession(cloud: StubCloud())
    session.start()
    let response = try await session.perform(ModifyOperation(records: [.note("r", 1)]))
    #expect(response.savedRecords.map(\.recordID) == [SessionHarness.id("r")])
    let page = try await session.perform(FetchOperation())
    #expect(page.changedRecords.count == 1)

    session.stop()
    let waiting = Task { try await session.perform(ModifyOperation(records: [.note("s", 1)])) }
    while session.state.modifyQueue.isEmpty { await Task.yield() }
    session.reset()
    await #expect(throws: SyncError.self) { _ = try await waiting.value }
  }

  @Test("Two thousand answers given synchronously do not deepen the stack")
  func synchronousAnswers() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 1))
    bench.start()
    for index in 0..<2_000 { try bench.modify([.note("r\(index)", 1)]) }
    bench.world.run()

    #expect(bench.completions.entries.count == 2_000)
    #expect(bench.handler.modifyCalls.count == 2_000)
  }

  // MARK: Observation

  @Test("Every event is published once, in order, whatever the number of middlewares")
  func eventsOnce() throws {
    let bench = SessionHarness()
    for name in ["one", "two"] { bench.session.appendMiddleware(Named(name: name)) }
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.session.fetch()
    bench.world.run()

    let numbers = bench.events.entries.map(\.sequence)
    #expect(numbers == Array(1...bench.state.eventCount))
    #expect(bench.events.entries.count { $0.event.name == "doWork" } == 4)
  }

  @Test("When a completion is announced, the state lists its operation no more")
  func completionAfterReduction() throws {
    let bench = SessionHarness(limits: RequestLimits(items: 1))
    bench.session.appendMiddleware(Named(name: "last"))
    let listed = Collector<OperationID>()
    let session = bench.session
    session.modifyWorkCompletedSubject.sink { [weak session] operation, _ in
      guard let session else { return }
      if session.state.modifyQueue.contains(where: { $0.id == operation.id }) {
        listed.add(operation.id)
      }
    }
    bench.start()
    for index in 0..<30 { try bench.modify([.note("r\(index)", 1)]) }
    bench.world.run()

    #expect(bench.completions.entries.count == 30)
    #expect(listed.entries.isEmpty)
  }

  @Test("A state is published only when an event applied")
  func statesThatChanged() {
    let bench = SessionHarness()
    bench.start()
    let states = Locked(0)
    bench.session.statePublisher.sink { _ in states.withLock { $0 += 1 } }
    let before = states.withLock { $0 }
    #expect(before == 1, "the present state is replayed")
    for number in 0..<10 {
      bench.session.cancel(OperationID(epoch: 9, number: UInt64(number)))
      bench.session.retryParked()
      bench.session.dropParked([SessionHarness.id("nothing")])
      bench.session.acknowledge(PageID(number: 99), .stored)
      bench.session.decideZone(.recreate)
      bench.session.resolveAccountSwitch(.discard)
    }
    bench.world.run()

    #expect(states.withLock { $0 } == before)
  }

  @Test("With acknowledgements the next page waits until the app has stored this one")
  func backPressure() {
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(.init(changeToken: ChangeToken(text: "\(number)"), hasMore: number < 11))
    }
    let bench = SessionHarness(configuration: configuration, script: script)
    bench.start()
    bench.session.fetch()
    for page in 1...12 {
      bench.world.advance(by: .seconds(3_600))
      #expect(bench.handler.fetchCalls.count == page)
      guard let last = bench.pages.entries.last else { return }
      bench.session.acknowledge(last.page, .stored)
    }
    bench.world.run()

    #expect(bench.pages.entries.map(\.isLast).count { $0 } == 1)
    #expect(bench.state.hasWorkQueued == false)
  }

  @Test("A session that is released is freed, with its timer, and its waiters are told")
  func release() throws {
    let world = VirtualEnvironment()
    let results = Collector<SyncError.Code>()
    weak var released: CloudSyncSession?
    do {
      let cloud = StubCloud(in: world) { number, _ in
        number >= 2 ? .failure(.networkFailure) : nil
      }
      let session = CloudSyncSession(
        operationHandler: cloud,
        zoneID: SessionHarness.zoneID,
        environment: world.environment
      )
      released = session
      session.appendMiddleware(Named(name: "mine"))
      session.appendMiddleware(AccountStatusMiddleware { $0(.available, nil) })
      try session.modify(ModifyOperation(records: [.note("r", 1)])) { result in
        if case .failure(let error) = result { results.add(error.code) }
      }
      session.start()
      world.run()
      #expect(world.isIdle == false)
    }
    world.run()

    #expect(released == nil)
    #expect(world.isIdle)
    #expect(results.entries == [.sessionReleased])
  }

  @Test("A halt drops nothing, and a start goes on")
  func haltKeepsWork() throws {
    let bench = CloudHarness { number, _ in number == 2 ? .failure(.internalError) : nil }
    bench.start()
    try bench.modify([.note("a", 1)])
    try bench.modify([.note("b", 1)])
    bench.session.fetch()
    bench.world.runToEnd()
    #expect(bench.state.isHalted)
    #expect(bench.state.modifyQueue.count == 2 && bench.state.fetchQueue.count == 1)

    bench.start()
    #expect(bench.completions.entries.count == 2)
    #expect(bench.pages.entries.count == 1)
  }

  // MARK: Determinism

  @Test("The same calls and answers give the same journal, byte for byte")
  func sameJournal() throws {
    let first = try Self.eventfulRun()
    let second = try Self.eventfulRun()

    #expect(first.bytes == second.bytes)
    #expect(first.state == second.state)
    #expect(first.bytes.count > 10_000)
  }

  @Test("A state is the fold of its journal, and a value that can be stored")
  func foldOfJournal() throws {
    let run = try Self.eventfulRun()
    let archive = try SyncArchive(run.bytes)
    #expect(archive.state == run.state)
    #expect(archive.eventCount == Int(run.state.eventCount))

    let coded = try JSONEncoder().encode(run.state)
    #expect(try JSONDecoder().decode(SyncState.self, from: coded) == run.state)
  }

  /// A session in which much goes wrong, with its journal.
  private static func eventfulRun() throws -> (bytes: Data, state: SyncState) {
    let bench = CloudHarness.eventful()
    let bytes = Locked(Data())
    bench.session.journal { part in bytes.withLock { $0.append(part) } }
    try bench.runEventfully()
    #expect(bench.wrongs == [])
    return (bytes.withLock { $0 }, bench.state)
  }
}
