import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorMiddleware")
struct ErrorMiddlewareTests {
  /// A session whose first response to each kind of work is an error.
  private func bench(_ kind: OperationMode, _ error: SyncError) throws -> SessionHarness {
    var script = ScriptedHandler.Script()
    switch kind {
    case .createZone:
      script.createZone = { $0 == 0 ? .failure(error) : .success(true) }
    case .createSubscription:
      script.createSubscription = { $0 == 0 ? .failure(error) : .success(true) }
    case .modify:
      script.modify = { operation, number in
        number == 0 ? .failure(error) : .success(ScriptedHandler.allSaved(operation))
      }
    case .fetch:
      script.fetch = { _, number in
        number == 0 ? .failure(error) : .success(.init(changeToken: ChangeToken(text: "t")))
      }
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    bench.session.fetch()
    return bench
  }

  /// The events that one response may become, by what the table says.
  private static func names(
    of disposition: ErrorDisposition,
    for kind: OperationMode
  ) -> Set<String> {
    switch disposition {
    // Its records are charged.
    case .retryTransient where kind == .modify: ["settleItems"]
    case .retryNetwork, .retryService, .retryTransient, .resendUnchanged: ["retry"]
    case .split, .isolate: ["split"]
    case .startOver: ["startOver"]
    case .failFetch: ["failFetch"]
    case .unwrap: ["split", "failFetch", "settleItems"]
    case .resolveConflict, .recordMissing, .stay, .park, .waitForQuota, .waitForAccount,
      .createZone, .askAboutZone, .giveUpSubscription, .halt:
      ["settleItems"]
    }
  }

  @Test(
    "Every failure becomes one event, by the table",
    arguments: SyncError.Code.everyCode,
    OperationMode.allCases
  )
  func byTheTable(code: SyncError.Code, kind: OperationMode) throws {
    let bench = try bench(kind, SyncError(code))
    let spies = bench.spies(around: "ErrorMiddleware")

    bench.start()

    let failure = try #require(spies.before.all("workFailure").first)
    let meaning = try #require(spies.after.sights.entries.first { $0.sequence == failure.sequence })
    let disposition = ErrorTable.disposition(of: code, for: kind, in: .request)
    #expect(Self.names(of: disposition, for: kind).contains(meaning.event.name))
    #expect(meaning.event.attempt == failure.event.attempt)
    #expect(spies.after.all("workFailure").isEmpty)
    #expect(meaning.event.name == failure.reduced.name)
  }

  @Test("A whole success passes as it is")
  func success() throws {
    let bench = SessionHarness()
    let spies = bench.spies(around: "ErrorMiddleware")
    try bench.modify([SessionHarness.record("a")], delete: ["b"])
    bench.session.fetch()

    bench.start()

    #expect(spies.before.sights.entries.map(\.event) == spies.after.sights.entries.map(\.event))
    #expect(spies.after.all("workSuccess").count == 4)
  }

  @Test("A response in another order, or with parts missing, becomes one verdict for each item")
  func mixed() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      var response = ScriptedHandler.allSaved(operation)
      guard number == 0 else { return .success(response) }
      response.savedRecords.reverse()
      response.savedRecords.removeAll { $0.recordID.name == "b" }
      return .success(response)
    }
    let bench = SessionHarness(script: script)
    let spies = bench.spies(around: "ErrorMiddleware")
    try bench.modify(
      [SessionHarness.record("a"), SessionHarness.record("b"), SessionHarness.record("c")],
      delete: ["d"]
    )

    bench.start()

    guard case .settleItems(_, let settlement) = spies.after.first("settleItems")?.event else {
      Issue.record("the response was not settled by item")
      return
    }
    let names = settlement.verdicts.map { verdict in
      switch verdict {
      case .saved(let record): record.recordID.name
      case .deleted: "deleted"
      case .again(_, counted: true): "charged"
      default: "other"
      }
    }
    #expect(names == ["a", "charged", "c", "deleted"])
    #expect(bench.handler.modifyCalls.map(\.names) == [["a", "b", "c", "-d"], ["b"]])
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [3])
  }

  @Test("A record that is said to be saved and to have failed is taken to have failed")
  func contradiction() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      var response = ScriptedHandler.allSaved(operation)
      if number == 0 {
        response.failures = [ItemFailure(SessionHarness.id("a"), SyncError(.operationCancelled))]
      }
      return .success(response)
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])

    bench.start()
    bench.world.advance(by: .seconds(60))

    #expect(bench.handler.modifyCalls.count == 2)
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [1])
  }

  @Test(
    "A response that says nothing is charged to each item alone, and they are parked in the end"
  )
  func silence() throws {
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in .success(.init()) }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])

    bench.start()
    bench.world.advance(by: .seconds(3_600))

    #expect(bench.state.parkedRecords.map(\.error.code) == [.invalidResponse, .invalidResponse])
    #expect(bench.handler.modifyCalls.map(\.names.count) == [2] + Array(repeating: 1, count: 12))
    #expect(bench.completions.entries.count == 1)
  }

  @Test("Records that the cloud was not asked about change nothing")
  func strangers() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      guard number == 0 else { return .success(ScriptedHandler.allSaved(operation)) }
      return .failure(
        SyncError(
          .partialFailure,
          itemErrors: [ItemFailure(SessionHarness.id("stranger"), SyncError(.invalidArguments))]
        )
      )
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])

    bench.start()
    bench.world.advance(by: .seconds(60))

    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [1])
  }

  @Test("A response to an attempt that is over passes and changes nothing")
  func stale() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      .twice(.failure(SyncError(.networkFailure)), again: .milliseconds(1))
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])

    bench.start()
    bench.world.advance(by: .milliseconds(10))

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.state.retryCount == 1)
  }

  @Test("A response of another kind halts with the code invalidResponse and keeps the work")
  func wrongKind() throws {
    let bench = SessionHarness()
    let liar = SpyMiddleware(
      "Liar",
      change: { event, _ in
        guard case .workSuccess(let attempt, .modify) = event else { return event }
        return .workSuccess(attempt, .createZone(true))
      }
    )
    bench.session.insertMiddleware(liar, before: "ErrorMiddleware")
    try bench.modify([SessionHarness.record("a")])

    bench.start()

    #expect(bench.state.haltReason?.error.code == .invalidResponse)
    #expect(bench.state.modifyQueue.count == 1)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("What the app's closures decide is recorded with the event, once")
  func decisions() throws {
    let asked = Locked(0)
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      guard number == 0 else { return .success(ScriptedHandler.allSaved(operation)) }
      let server = SessionHarness.record("a", ["x": 9], tag: "s")
      let error = SyncError(.serverRecordChanged, serverRecord: server)
      return .success(.init(failures: [ItemFailure(SessionHarness.id("a"), error)]))
    }
    script.fetch = { _, number in
      number == 0
        ? .failure(.changeTokenExpired) : .success(.init(changeToken: ChangeToken(text: "new")))
    }
    let bench = SessionHarness(
      resolver: ConflictResolver { client, _ in
        asked.withLock { $0 += 1 }
        return client
      },
      resolveExpiredChangeToken: { ChangeToken(text: "older") },
      script: script
    )
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "old")))
    bench.world.run()

    let decisions = bench.events.entries.flatMap(\.decisions)
    #expect(decisions.count == 2 && asked.withLock { $0 } == 1)
    guard case .conflict(let recordID, .save(let record)) = decisions.first else {
      Issue.record("the first decision is not the conflict's")
      return
    }
    #expect(recordID == SessionHarness.id("a") && record.changeTag == "s" && record["x"] == 1)
    #expect(decisions.last == .expiredToken(ChangeToken(text: "older")))
    #expect(bench.handler.fetchCalls.last?.fetch?.changeToken == ChangeToken(text: "older"))
  }

  @Test("A response that never comes becomes a lost one at the deadline")
  func timeout() throws {
    var configuration = SyncConfiguration()
    configuration.timeout = .seconds(20)
    let bench = SessionHarness(
      configuration: configuration,
      script: .init(modify: { _, _ in .never })
    )
    let spies = bench.spies(around: "ErrorMiddleware")
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    bench.world.advance(by: .seconds(20))

    guard case .retry(_, let retry) = spies.after.first("retry")?.event else {
      Issue.record("the request was not taken for lost")
      return
    }
    #expect(retry.error.code == .timedOut && retry.isLost)
    #expect(spies.before.first("woke")?.origin == .timer)
  }
}
