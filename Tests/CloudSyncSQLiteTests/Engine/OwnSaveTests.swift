import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSimulator
import Testing

@Suite("Saves of a session that hands refused items back, as an engine's does")
struct OwnSaveTests {
  /// The engine has not taken the first response, because it was told of another zone meanwhile: its second edit clears
  /// nothing, since it knows of no record.
  @Test("An edit that does not know of the session's own save meets it as a conflict")
  func conflict() throws {
    let world = SimulatedEnvironment()
    let zoneID = ZoneID(name: "Data")
    let cloud = LocalCloud(store: MemoryStore(), now: { world.now })
    var configuration = SyncConfiguration()
    configuration.refusedItems = .handBack
    let owner = AccountIdentity("owner")
    let session = CloudSyncSession(
      operationHandler: cloud.connect(device: "mac", account: owner, zoneID: zoneID),
      zoneID: zoneID,
      configuration: configuration,
      resolver: ConflictResolver { _ in .later },
      callbackExecutor: world.executor,
      environment: world.environment
    )
    let failures = Locked<[SyncError.Code]>([])
    session.modifyWorkCompletedSubject.sink { _, response in
      failures.withLock { $0 += response.failures.map(\.error.code) }
    }
    session.start()
    let recordID = RecordID(name: "a:notes", zoneID: zoneID)
    var record = Record(recordType: "notes", recordID: recordID)
    record["title"] = .string("first")
    try session.modify(ModifyOperation(records: [record]))
    world.advance(by: .seconds(60))
    record["title"] = nil
    record["stars"] = .int64(1)
    try session.modify(ModifyOperation(records: [record]))
    world.advance(by: .seconds(60))

    #expect(failures.withLock { $0 } == [.awaitsAppEdit])
    let saved = try #require(
      try cloud.records(account: owner, zone: zoneID).first { $0.recordID == recordID }
    )
    #expect(saved["title"] == .string("first"))
    #expect(saved["stars"] == nil)
  }
}
