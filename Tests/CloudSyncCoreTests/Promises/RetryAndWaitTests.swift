import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Nothing is done twice, and waits are kept")
struct RetryAndWaitTests {
  /// A bench whose answers to modifications take a while.
  static func slowBench(_ delay: Duration = .seconds(1)) -> SessionHarness {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      .after(delay, .success(ScriptedHandler.allSaved(operation)))
    }
    return SessionHarness(script: script)
  }

  // MARK: Double execution

  @Test("An operation in flight is sent once, whatever stop and start do meanwhile")
  func stopAndStartInFlight() throws {
    let bench = Self.slowBench()
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    for _ in 0..<3 {
      bench.session.stop()
      bench.session.start()
      bench.world.run()
    }
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A response that comes while the session is stopped is taken, once")
  func answerWhileStopped() throws {
    let bench = Self.slowBench()
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    bench.session.stop()
    bench.world.advance(by: .seconds(10))
    #expect(bench.completions.entries.count == 1)
    #expect(bench.state.isHalted)

    bench.start()
    #expect(bench.world.runToEnd())
    #expect(bench.handler.modifyCalls.count == 1)
  }

  @Test("An account that is away for a moment does not have work sent twice")
  func accountFlap() throws {
    let bench = Self.slowBench()
    let status = Locked(AccountStatus.available)
    bench.session.appendMiddleware(
      AccountStatusMiddleware { completion in completion(status.withLock { $0 }, nil) }
    )
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    for next in [AccountStatus.temporarilyUnavailable, .available] {
      status.withLock { $0 = next }
      bench.session.accountDidChange()
      bench.world.run()
    }
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A session that is started twice asks for everything once")
  func startTwice() {
    var script = ScriptedHandler.Script()
    script.createZone = { _ in .after(.seconds(1), .success(true)) }
    script.createSubscription = { _ in .after(.seconds(1), .success(true)) }
    let bench = SessionHarness(script: script)
    let questions = Collector<AccountStatusProvider.Completion>()
    bench.session.appendMiddleware(AccountStatusMiddleware { questions.add($0) })
    bench.session.start()
    bench.session.start()
    bench.world.run()
    #expect(questions.entries.count == 1)
    questions.entries[0](.available, nil)
    bench.world.run()
    bench.world.advance(by: .milliseconds(500))
    bench.session.connectivityChanged()
    #expect(bench.world.runToEnd())

    #expect(bench.handler.calls.map(\.mode) == [.createZone, .createSubscription])
  }

  @Test("Repeated starts do not pile up zone creations that fail")
  func failingCreationAndStarts() {
    var script = ScriptedHandler.Script()
    script.createZone = { _ in .failure(.serverRejectedRequest) }
    let bench = SessionHarness(script: script)
    for count in 1...5 {
      bench.start()
      #expect(bench.handler.calls.count == count)
      #expect(bench.state.createZoneQueue.count + bench.state.createSubscriptionQueue.count <= 2)
      #expect(bench.state.isHalted)
    }
  }

  @Test("Consecutive fetches never read the same changes twice, and all complete")
  func fetchesInARow() {
    let bench = SessionHarness()
    let results = Collector<Int>()
    let fetch: @Sendable (Int) -> Void = { [session = bench.session] number in
      session.fetch { result in if case .success = result { results.add(number) } }
    }
    for number in 0..<3 { fetch(number) }
    bench.start()
    #expect(bench.handler.fetchCalls.map { $0.fetch?.changeToken } == [nil])

    // The first is sent at once; all others are answered by one run that goes on from its end.
    for number in 3..<10 { fetch(number) }
    bench.world.run()
    let end = ChangeToken(text: "end")
    #expect(bench.handler.fetchCalls.map { $0.fetch?.changeToken } == [nil, end, end])
    #expect(results.entries == Array(0..<10))
  }

  @Test("A fetch asked for during paging begins where the run ends, not at its stale token")
  func fetchDuringPaging() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .after(
        .seconds(1),
        .success(.init(changeToken: ChangeToken(text: "\(number + 1)"), hasMore: number < 3))
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "0")))
    bench.world.advance(by: .milliseconds(1_500))
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "0")))
    #expect(bench.world.runToEnd())

    let tokens = bench.handler.fetchCalls.map { $0.fetch?.changeToken }
    #expect(tokens == (0...4).map { ChangeToken(text: "\($0)") })
    #expect(bench.pages.entries.count { $0.isLast } == 2)
  }

  @Test("A completion that is called twice counts once")
  func completionTwice() throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .twice(
        .success(.init(changeToken: ChangeToken(text: "\(number)"), hasMore: number == 0)),
        again: .zero
      )
    }
    script.modify = { operation, _ in
      .twice(.success(ScriptedHandler.allSaved(operation)), again: .milliseconds(1))
    }
    script.createZone = { _ in .twice(.success(true), again: .seconds(1)) }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    try bench.modify([.note("a", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.fetchCalls.count == 2)
    #expect(bench.pages.entries.count == 2)
    #expect(bench.completions.entries.count == 1)
    #expect(bench.handler.calls.count == 5)
  }

  @Test("A response that comes after its deadline is not taken for that of the next attempt")
  func staleAnswer() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .after(.seconds(302), .failure(SyncError(.badContainer)))
        : .after(.seconds(10), .success(ScriptedHandler.allSaved(operation)))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.count == 2)
    #expect(bench.state.isHalted == false)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("An expired token is replaced by what the app gives, or by a fetch of everything")
  func expiredToken() {
    for replacement in [nil, ChangeToken(text: "backup")] {
      let bench = SessionHarness(
        resolveExpiredChangeToken: { replacement },
        script: Self.expiring()
      )
      bench.start()
      bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "1")))
      #expect(bench.world.runToEnd())

      let tokens = bench.handler.fetchCalls.map { $0.fetch?.changeToken }
      #expect(tokens == [ChangeToken(text: "1"), replacement])
      #expect(bench.pages.entries.map(\.startedOver) == [replacement == nil])
    }
  }

  @Test("An expired token is never used again, whatever stop and start do")
  func expiredTokenAndRestart() {
    let bench = SessionHarness(script: Self.expiring(after: .seconds(1)))
    bench.start()
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "1")))
    bench.world.advance(by: .milliseconds(500))
    bench.session.stop()
    bench.world.advance(by: .seconds(2))
    bench.session.start()
    #expect(bench.world.runToEnd())

    #expect(
      bench.handler.fetchCalls.map { $0.fetch?.changeToken } == [ChangeToken(text: "1"), nil]
    )
  }

  private static func expiring(after delay: Duration = .zero) -> ScriptedHandler.Script {
    var script = ScriptedHandler.Script()
    script.fetch = { operation, _ in
      operation.changeToken == ChangeToken(text: "1")
        ? .after(delay, .failure(SyncError(.changeTokenExpired)))
        : .success(.init(changeToken: ChangeToken(text: "2")))
    }
    return script
  }

  // MARK: Coalescing

  @Test("Ten quick edits of one record, made alone, are few requests and no conflict")
  func quickEdits() throws {
    var options = StubCloud.Options()
    options.delay = .milliseconds(200)
    let resolved = Locked(0)
    let bench = CloudHarness(
      options: options,
      resolver: ConflictResolver { conflict in
        resolved.withLock { $0 += 1 }
        return .save(conflict.client)
      }
    )
    bench.cloud.save(.note("r", 0))
    bench.session.start()
    bench.world.advance(by: .seconds(5))
    for value in 1...10 {
      try bench.modify([.note("r", value, tag: "t1")])
      bench.world.advance(by: .milliseconds(10))
    }
    #expect(bench.world.runToEnd())

    #expect(bench.cloud.modifications.count == 2)
    #expect(resolved.withLock { $0 } == 0)
    #expect(bench.cloud["r"]?["x"] == 10)
    #expect(bench.completions.entries.count == 10)
  }

  @Test("Edits that all carry the first change tag are no conflicts, one after the other")
  func slowEdits() throws {
    let resolved = Locked(0)
    let bench = CloudHarness(
      resolver: ConflictResolver { conflict in
        resolved.withLock { $0 += 1 }
        return .save(conflict.client)
      }
    )
    bench.cloud.save(.note("r", 0))
    bench.start()
    for value in 1...10 {
      try bench.modify([.note("r", value, tag: "t1")])
      bench.world.run()
    }

    #expect(bench.cloud.modifications.count == 10)
    #expect(resolved.withLock { $0 } == 0)
    #expect(bench.cloud["r"]?["x"] == 10)
  }
}
