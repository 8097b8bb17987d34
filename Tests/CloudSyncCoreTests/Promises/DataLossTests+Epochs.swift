import CloudSyncCore
import CloudSyncTestSupport
import Testing

extension DataLossTests {
  // MARK: Accounts

  @Test("An edit never goes to another account than the one that it was made for")
  func accountSwitch() throws {
    let bench = CloudHarness()
    let account = Locked<(AccountStatus, AccountIdentity?)>((.available, AccountIdentity("A")))
    bench.session.appendMiddleware(
      AccountStatusMiddleware { completion in
        let (status, identity) = account.withLock { $0 }
        completion(status, identity)
      }
    )
    bench.start()
    account.withLock { $0 = (.noAccount, nil) }
    bench.session.accountDidChange()
    let id = try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(60))
    account.withLock { $0 = (.available, AccountIdentity("B")) }
    bench.session.accountDidChange()
    bench.world.advance(by: .seconds(3_600))

    #expect(bench.cloud.modifications.isEmpty)
    #expect(bench.session.explain().reasons.contains(.accountSwitched))
    #expect(bench.state.modifyQueue.map(\.id) == [id])

    bench.session.resolveAccountSwitch(.discard)
    bench.world.runToEnd()
    #expect(bench.cloud.modifications.isEmpty)
    #expect(bench.failures.entries.map(\.error.code) == [.accountSwitched])
    #expect(bench.failures.entries[0].error.itemErrors.map(\.recordID) == [SessionHarness.id("r")])
  }

  @Test("An edit quarantined by a switch goes out when its account is back")
  func accountReturns() throws {
    let bench = CloudHarness()
    let account = Locked("A")
    bench.session.appendMiddleware(
      AccountStatusMiddleware { completion in
        completion(.available, AccountIdentity(account.withLock { $0 }))
      }
    )
    bench.start()
    account.withLock { $0 = "B" }
    bench.session.accountDidChange()
    try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(60))
    #expect(bench.cloud.modifications.isEmpty)

    account.withLock { $0 = "A" }
    bench.session.accountDidChange()
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["x"] == 1)
    #expect(bench.completions.entries.count == 1)
  }

  // MARK: Resets

  @Test("A retry that is pending at a reset is never sent")
  func resetDuringRetry() throws {
    let bench = CloudHarness { number, _ in
      number == 2 ? .failure(.requestRateLimited, retryAfter: .milliseconds(600)) : nil
    }
    bench.start()
    try bench.modify([.note("old", 1)])
    bench.world.run()
    bench.world.advance(by: .milliseconds(300))

    bench.session.reset()
    bench.world.run()
    #expect(bench.failures.entries.map(\.error.code) == [.reset])
    #expect(
      bench.failures.entries[0].error.itemErrors.map(\.recordID) == [SessionHarness.id("old")]
    )
    bench.start()
    try bench.modify([.note("new", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.cloud.records.map(\.recordID.name) == ["new"])
    #expect(bench.cloud.modifications.count == 2)
  }

  @Test("A response to an old epoch says nothing about the new one")
  func resetDuringZoneCreation() throws {
    let bench = CloudHarness { number, _ in number == 0 ? .delay(.seconds(10)) : nil }
    bench.start()
    bench.world.advance(by: .seconds(1))
    bench.session.reset()
    bench.world.advance(by: .seconds(60))

    #expect(bench.state.hasCreatedZone == nil)
    #expect(bench.cloud.cancelled.count == 1)
    bench.start()
    #expect(bench.cloud.count(of: .createZone) == 2)
    #expect(bench.state.hasCreatedZone == true)
  }

  @Test("An account's status asked for in an old epoch says nothing about the new one")
  func resetDuringAccountCheck() throws {
    let bench = CloudHarness()
    let questions = Collector<AccountStatusProvider.Completion>()
    bench.session.appendMiddleware(AccountStatusMiddleware { questions.add($0) })
    bench.start()
    bench.session.reset()
    bench.world.run()
    questions.entries[0](.available, AccountIdentity("old"))
    bench.world.run()

    #expect(bench.state.hasGoodAccountStatus == nil)
    bench.start()
    #expect(questions.entries.count == 2)
    questions.entries[1](.available, AccountIdentity("new"))
    bench.world.run()
    #expect(bench.state.accountState == .ready(AccountIdentity("new")))
    #expect(bench.cloud.count(of: .createZone) == 1)
  }

  @Test("Everything submitted before a reset belongs to the old epoch")
  func workBeforeReset() throws {
    let bench = CloudHarness()
    bench.start()
    for index in 0..<200 { try bench.modify([.note("old", index)]) }
    bench.session.reset()
    let id = try bench.modify([.note("new", 1)])
    bench.world.run()

    #expect(bench.failures.entries.count == 200)
    #expect(bench.failures.entries.allSatisfy { $0.error.code == .reset })
    #expect(bench.state.modifyQueue.map(\.id) == [id])
    #expect(id.epoch == bench.state.epoch)
    bench.start()
    // Only what was on its way already may have reached the cloud.
    #expect(bench.cloud.modifications.count <= 2)
    #expect(bench.cloud.modifications.last?.records.map(\.recordID.name) == ["new"])
  }

  @Test("A reset after a stop leaves a session as new, and not halted")
  func stopThenReset() throws {
    let bench = CloudHarness()
    bench.start()
    bench.session.stop()
    bench.session.reset()
    bench.world.run()

    #expect(bench.state.isHalted == false)
    #expect(bench.state.phase == .created)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    #expect(bench.cloud["r"]?["x"] == 1)
  }

  // MARK: Values and results

  @Test("A record that the app changes after submitting it is saved as submitted")
  func recordsAreValues() throws {
    let bench = CloudHarness()
    var record = Record.note("r", 1)
    try bench.modify([record])
    record["x"] = 99
    bench.start()

    #expect(bench.cloud["r"]?["x"] == 1)
  }

  @Test("Every operation has a result of its own, without any subscription")
  func resultsOfTheirOwn() throws {
    let world = VirtualEnvironment()
    let cloud = StubCloud(in: world)
    let session = CloudSyncSession(
      operationHandler: cloud,
      zoneID: SessionHarness.zoneID,
      environment: world.environment
    )
    let results = Collector<String>()
    try session.modify(ModifyOperation(records: [.note("a", 1)])) { result in
      results.add("a \((try? result.get())?.savedRecords.count ?? -1)")
    }
    session.fetch { result in
      results.add("fetch \((try? result.get())?.changedRecords.count ?? -1)")
    }
    session.start()
    world.run()
    session.stop()
    try session.modify(ModifyOperation(records: [.note("b", 1)])) { result in
      if case .failure(let error) = result { results.add("b \(error.code)") }
    }
    session.reset()
    world.run()

    #expect(results.entries == ["a 1", "fetch 1", "b reset"])
  }

  @Test("A completion that nobody was told of is announced after a restore")
  func completionsSurviveRestore() async throws {
    let bench = SessionHarness()
    let bytes = Collector<SyncArchive>()
    bench.session.modifyWorkCompletedSubject.sink { [session = bench.session] _, _ in
      session.snapshot { data in
        if let archive = try? SyncArchive(data) { bytes.add(archive) }
      }
    }
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    try bench.modify([SessionHarness.record("b")])
    bench.world.run()
    let archive = try #require(bytes.entries.first)

    let restored = SessionHarness(restoring: archive)
    restored.start()
    let ids = bench.completions.entries.map(\.id)
    #expect(ids.count == 2)
    #expect(
      ids.suffix(restored.completions.entries.count) == restored.completions.entries.map(\.id)[...]
    )
    #expect(restored.state.hasWorkQueued == false)
  }
}
