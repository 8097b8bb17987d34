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
