import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// The rows of the audit that have no number.
@Suite("Lost zones, deletions and rules")
struct ZoneLossTests {
  private static let purged = SyncError(.userDeletedZone)
  private static let reset = SyncError(.zoneNotFound, isEncryptedDataReset: true)

  @Test("A zone that the user erased is not created again without the app's word")
  func erasedZone() throws {
    let bench = CloudHarness()
    bench.start()
    bench.cloud.loseZone(Self.purged)
    let id = try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(36_000))

    #expect(bench.cloud.hasZone == false)
    #expect(bench.state.zoneState == .lost(.purged))
    #expect(bench.state.modifyQueue.map(\.id) == [id])
    #expect(bench.cloud.count(of: .modify) == 1)

    bench.session.decideZone(.recreate)
    bench.world.runToEnd()
    #expect(bench.cloud["r"]?["x"] == 1)
  }

  @Test("A zone that the app gives up ends its work as failed, with its records")
  func abandonedZone() throws {
    let bench = CloudHarness()
    bench.start()
    bench.cloud.loseZone(Self.purged)
    try bench.modify([.note("r", 1)])
    bench.session.fetch()
    bench.world.run()
    bench.session.decideZone(.abandon)
    bench.world.runToEnd()

    #expect(bench.failures.entries.map(\.error.code) == [.zoneAbandoned, .zoneAbandoned])
    #expect(bench.failures.entries[0].error.itemErrors.map(\.recordID) == [SessionHarness.id("r")])
    #expect(bench.cloud.hasZone == false)
    #expect(bench.wrongs == [])
  }

  /// A session whose zone was erased while it fetched the second page, with an edit, and a look-up that waits.
  private func asked() throws -> (CloudHarness, fetch: OperationID) {
    var options = StubCloud.Options()
    options.pageSize = 1
    let bench = CloudHarness(options: options)
    for name in ["r", "s"] { bench.cloud.save(.note(name, 0)) }
    bench.start()
    bench.session.fetchWorkCompletedSubject.sink { [cloud = bench.cloud] _, page in
      if page.isBeginning, cloud.count(of: .createZone) == 1 { cloud.loseZone(Self.purged) }
    }
    let fetch = bench.session.fetch()
    bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("t")]))
    try bench.modify([.note("q", 1)])
    bench.world.advance(by: .seconds(36_000))
    #expect(bench.state.zoneState == .lost(.purged))
    return (bench, fetch)
  }

  @Test("While the app is asked about a zone, only records that it names are looked up, once each")
  func lookupWithoutZone() throws {
    let (bench, fetch) = try asked()
    #expect(bench.failures.entries.last?.error.code == .userDeletedZone)
    #expect(bench.state.fetchQueue.map(\.id) == [fetch])
    #expect(bench.cloud.calls.suffix(3).map(\.operation.mode) == [.fetch, .modify, .fetch])
    bench.cloud.loseZone(SyncError(.zoneNotFound))
    bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("t")]))
    bench.world.advance(by: .seconds(36_000))
    #expect(bench.state.zoneState == .lost(.purged))
    let calls = bench.cloud.calls.count

    bench.cloud.createZone()
    bench.cloud.save(.note("t", 1))
    bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("t")]))
    bench.world.advance(by: .seconds(36_000))
    #expect(bench.pages.entries.last?.changedRecords.map(\.recordID.name) == ["t"])
    #expect(bench.state.zoneState == .lost(.purged))
    #expect(bench.cloud.calls.count == calls + 1)
    #expect(bench.wrongs == [])
  }

  @Test(
    "While the app is asked about a zone, it hears of another loss, but not that the zone is missing"
  )
  func furtherLosses() throws {
    let (bench, _) = try asked()
    let told = Locked<[ZoneState]>([])
    bench.session.zoneSubject.sink { [told] state in told.withLock { $0.append(state) } }
    for error in [SyncError(.zoneNotFound), Self.reset, SyncError(.zoneNotFound), Self.purged] {
      bench.cloud.loseZone(error)
      bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("t")]))
      bench.world.advance(by: .seconds(36_000))
    }

    #expect(
      told.withLock { $0 } == [.lost(.purged), .lost(.encryptedDataReset), .lost(.purged)]
    )
    #expect(bench.cloud.hasZone == false)
    #expect(bench.wrongs == [])
  }

  @Test("A fetch that a lost zone has cut short begins anew when the app has decided")
  func fetchAfterDecision() throws {
    let (bench, _) = try asked()
    bench.cloud.createZone()
    bench.cloud.save(.note("t", 1))
    bench.session.decideZone(.recreate)
    bench.world.runToEnd()

    let page = try #require(bench.pages.entries.last { $0.isBeginning })
    #expect(page.startedOver && bench.state.fetchQueue == [])
    #expect(bench.cloud["q"]?["x"] == 1)
    #expect(bench.failures.entries.count == 1)
    #expect(bench.wrongs == [])
  }

  @Test("What the app decides while a record is looked up holds", arguments: [true, false])
  func decisionDuringLookup(recreates: Bool) throws {
    let (bench, _) = try asked()
    bench.cloud.change { $0.delay = .seconds(5) }
    bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("t")]))
    bench.world.advance(by: .seconds(1))
    #expect(bench.state.operationMode == .fetch)
    bench.session.decideZone(recreates ? .recreate : .abandon)
    bench.world.runToEnd()

    #expect(bench.cloud.hasZone == recreates)
    #expect(bench.state.fetchQueue == [] && bench.state.modifyQueue == [])
    #expect((bench.cloud["q"] != nil) == recreates)
    #expect(bench.wrongs == [])
  }

  @Test("After a reset of the encrypted data what is queued is uploaded, and the app is told")
  func encryptedDataReset() throws {
    let bench = CloudHarness()
    let zones = Collector<ZoneState>()
    bench.session.zoneSubject.sink { zones.add($0) }
    bench.start()
    bench.cloud.loseZone(Self.reset)
    try bench.modify([.note("r", 1)])
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["x"] == 1)
    #expect(zones.entries.contains(.creating(.encryptedDataReset)))
  }

  @Test("Change tags of a zone that is gone are not used in the next one")
  func staleChangeTags() throws {
    let bench = CloudHarness()
    let saved = bench.cloud.save(.note("r", 0))
    bench.start()
    bench.cloud.loseZone()
    try bench.modify([.note("r", 1, tag: saved.changeTag), .note("s", 1)])
    bench.world.runToEnd()

    #expect(bench.cloud["r"]?["x"] == 1 && bench.cloud["s"]?["x"] == 1)
    #expect(bench.cloud.modifications.map(\.records[0].changeTag) == [saved.changeTag, nil])
    #expect(bench.completions.entries.map(\.response.unsaved) == [[]])
  }

  @Test("A fetch after a lost zone begins from nothing, and says so")
  func staleToken() {
    let bench = CloudHarness()
    bench.cloud.save(.note("r", 0))
    bench.start()
    bench.session.fetch()
    bench.world.run()
    bench.cloud.loseZone()
    bench.cloud.save(.note("s", 0))
    bench.session.fetch()
    bench.world.runToEnd()

    #expect(bench.pages.entries.map(\.startedOver) == [true, true])
    #expect(bench.state.isHalted == false)
  }

  @Test("Deletions keep the type that the cloud told")
  func deletedTypes() {
    var script = ScriptedHandler.Script()
    script.fetch = { _, _ in
      .success(
        .init(
          deletedRecords: [DeletedRecord(recordID: SessionHarness.id("r"), recordType: "Note")],
          changeToken: ChangeToken(text: "t")
        )
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    bench.world.run()

    #expect(bench.pages.entries[0].deletedRecords.map(\.recordType) == ["Note"])
    #expect(bench.pages.entries[0].deletedRecordIDs == [SessionHarness.id("r")])
  }

  @Test("A modification that breaks a rule is refused at the call, with record and rule")
  func rules() throws {
    let bench = SessionHarness()
    #expect(throws: RecordRuleViolation.self) {
      try bench.modify([.note("r", 1), .note("r", 2)])
    }
    #expect(throws: RecordRuleViolation.self) { try bench.modify([.note("_r", 1)]) }
    #expect(throws: RecordRuleViolation.self) { try bench.modify([.note("r", 1)], delete: ["r"]) }
    bench.world.run()

    #expect(bench.state.hasWorkQueued == false)
  }
}
