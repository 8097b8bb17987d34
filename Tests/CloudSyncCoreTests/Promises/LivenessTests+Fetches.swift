import CloudSyncCore
import CloudSyncTestSupport
import Testing

extension LivenessTests {
  // MARK: Fetches

  @Test("A token that does not advance ends the fetch after three pages")
  func stuckToken() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, _ in
      .success(.init(changeToken: ChangeToken(text: "same"), hasMore: true))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "same")))
    #expect(bench.world.runToEnd())

    #expect(bench.handler.fetchCalls.count == 3)
    #expect(bench.state.haltReason?.error.code == .tokenStuck)
    #expect(bench.failures.entries.map(\.error.code) == [.tokenStuck])
  }

  @Test("A fetch that has always more ends when its page budget is spent")
  func endlessPages() {
    var configuration = SyncConfiguration()
    configuration.pageBudget = 20
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(.init(changeToken: ChangeToken(text: "t\(number)"), hasMore: true))
    }
    let bench = SessionHarness(configuration: configuration, script: script)
    bench.start()
    bench.session.fetch()
    #expect(bench.world.runToEnd())

    #expect(bench.handler.fetchCalls.count == 20)
    #expect(bench.state.haltReason?.error.code == .tooManyPages)
    #expect(bench.failures.entries.map(\.error.code) == [.tooManyPages])
  }

  @Test(
    "A fetch that fails with an error of modifications ends as failed, and work goes on",
    arguments: [
      SyncError.Code.serverRecordChanged, .limitExceeded, .unknownItem, .batchRequestFailed,
      .quotaExceeded, .referenceViolation, .permissionFailure, .invalidArguments,
    ]
  )
  func fetchFails(code: SyncError.Code) throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      number == 0 ? .failure(code) : .success(.init(changeToken: ChangeToken(text: "t")))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    bench.world.run()
    #expect(bench.failures.entries.map(\.error.code) == [code])
    #expect(bench.state.isHalted == false)

    bench.session.fetch()
    try bench.modify([.note("r", 1)])
    #expect(bench.world.runToEnd())
    #expect(bench.pages.entries.count == 1)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A halt over a fetch is announced once, with the fetch kept or answered")
  func haltOverFetch() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      number == 0 ? .failure(.badContainer) : .success(.init(changeToken: nil))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    let id = bench.session.fetch()
    bench.world.runToEnd()
    #expect(bench.halts.entries.map { $0?.code } == [nil, .badContainer])
    #expect(bench.state.haltReason?.operations == [id])
    #expect(bench.state.fetchQueue.map(\.id) == [id])

    bench.start()
    #expect(bench.pages.entries.count == 1)
    #expect(bench.halts.entries.map { $0?.code } == [nil, .badContainer, nil])
  }

  @Test("A record that cannot be downloaded fails alone, and the token advances")
  func unreadableRecord() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(
        .init(
          changedRecords: (0..<399).map { .note("r\($0)", 1) },
          failures: number > 0
            ? [] : [ItemFailure(SessionHarness.id("bad"), SyncError(.assetNotAvailable))],
          changeToken: ChangeToken(text: "t\(number)"),
          hasMore: number == 0
        )
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    #expect(bench.world.runToEnd())

    #expect(bench.handler.fetchCalls.count == 2)
    #expect(bench.pages.entries.map(\.changedRecords.count) == [399, 399])
    #expect(bench.pages.entries[0].failures.map(\.recordID) == [SessionHarness.id("bad")])
    #expect(bench.handler.fetchCalls[1].fetch?.changeToken == ChangeToken(text: "t0"))
    #expect(bench.state.isHalted == false)
  }

  @Test("A record that breaks a rule is set aside among the page's failures")
  func brokenRecord() {
    let other = Record(
      recordType: "Note",
      recordID: RecordID(name: "r", zoneID: ZoneID(name: "Elsewhere"))
    )
    var script = ScriptedHandler.Script()
    script.fetch = { _, _ in
      .success(.init(changedRecords: [other, .note("r", 1)], changeToken: ChangeToken(text: "t")))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    #expect(bench.world.runToEnd())

    #expect(bench.pages.entries.map(\.changedRecords.count) == [1])
    #expect(bench.pages.entries[0].failures.map(\.error.code) == [.invalidRecord])
  }

  // MARK: Accounts

  @Test("An account that was not there is asked about again, by itself and by a start")
  func accountSignsIn() throws {
    let bench = SessionHarness()
    let status = Locked(AccountStatus.noAccount)
    let questions = Collector<Timestamp>()
    let world = bench.world
    bench.session.appendMiddleware(
      AccountStatusMiddleware { completion in
        questions.add(world.now)
        completion(status.withLock { $0 }, nil)
      }
    )
    bench.start()
    for _ in 0..<3 { bench.start() }
    #expect(questions.entries.count == 4)
    #expect(bench.state.createZoneQueue.count == 1)
    try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(30))
    let asked = questions.entries.count
    #expect(asked > 4 && asked < 20)

    status.withLock { $0 = .available }
    #expect(bench.world.runToEnd(limit: .seconds(1_200)))
    #expect(bench.completions.entries.count == 1)
    #expect(bench.handler.calls.map(\.mode) == [.createZone, .createSubscription, .modify])
  }

  @Test("AccountDidChange asks at once", arguments: AccountStatus.allCases)
  func accountDidChange(before: AccountStatus) throws {
    let bench = SessionHarness()
    let status = Locked(before)
    bench.session.appendMiddleware(
      AccountStatusMiddleware { completion in completion(status.withLock { $0 }, nil) }
    )
    bench.start()
    bench.world.advance(by: .seconds(3_600))
    status.withLock { $0 = .available }
    bench.session.accountDidChange()
    try bench.modify([.note("r", 1)])
    bench.world.run()

    #expect(bench.completions.entries.count == 1)
  }

  // MARK: Starvation

  @Test("Edits that never end let a fetch have its turn")
  func editsWithoutEnd() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      .after(.milliseconds(60), .success(ScriptedHandler.allSaved(operation)))
    }
    let bench = SessionHarness(limits: RequestLimits(items: 1), script: script)
    bench.start()
    let session = bench.session
    session.modifyWorkCompletedSubject.sink { [weak session] operation, _ in
      _ = try? session?.modify(ModifyOperation(records: operation.records))
    }
    // One is on its way and one waits, always.
    for name in ["r", "s"] { try bench.modify([.note(name, 0)]) }
    bench.world.run()
    bench.session.fetch()
    bench.world.advance(by: .seconds(4))

    let modes = bench.handler.calls.dropFirst(2).map(\.mode)
    #expect(bench.pages.entries.count == 1)
    #expect(modes.firstIndex(of: .fetch) == 1)
    #expect(modes.count > 60)
  }

  @Test("An edit during a fetch of fifty pages waits for one page at most")
  func pagesWithoutEnd() throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .after(
        .milliseconds(60),
        .success(.init(changeToken: ChangeToken(text: "t\(number)"), hasMore: number < 49))
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    bench.world.advance(by: .milliseconds(610))
    #expect(bench.handler.fetchCalls.count == 11)
    try bench.modify([.note("r", 1)])
    bench.world.runToEnd()

    let modes = bench.handler.calls.dropFirst(2).map(\.mode)
    #expect(modes.firstIndex(of: .modify) == 11)
    #expect(bench.pages.entries.count == 50)
  }

  @Test("A record with an error of its own does not keep a fetch waiting")
  func troubledRecordAndFetch() throws {
    var options = StubCloud.Options()
    options.refuse = { id, _ in
      id.name == "bad" ? SyncError(.referenceViolation) : nil
    }
    let bench = CloudHarness(options: options)
    bench.cloud.save(.note("conflict", 0))
    bench.start()
    try bench.modify([.note("bad", 1), .note("conflict", 1)])
    bench.session.fetch()
    bench.world.run()

    #expect(bench.world.elapsed == .zero)
    #expect(bench.pages.entries.count == 1)
    #expect(bench.cloud["conflict"]?["x"] == 1)
  }

  @Test("A wait of the network's or the service's holds everything, says so and can be passed")
  func waitIsExplained() throws {
    let bench = CloudHarness { number, _ in
      number == 2 ? .failure(.serviceUnavailable, retryAfter: .seconds(30)) : nil
    }
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.session.fetch()
    bench.world.run()

    let explanation = bench.session.explain()
    #expect(explanation.reasons == .gate)
    #expect(explanation.error?.code == .serviceUnavailable)
    let wait = try #require(explanation.nextTry.map { bench.world.now.distance(to: $0) })
    #expect(wait >= 30_000_000_000 && wait < 34_000_000_000)

    bench.session.retryNow()
    bench.world.run()
    #expect(bench.pages.entries.count == 1)
    #expect(bench.completions.entries.count == 1)
  }
}
