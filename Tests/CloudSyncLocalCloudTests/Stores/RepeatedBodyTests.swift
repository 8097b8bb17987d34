import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: bodies that run again")
struct RepeatedBodyTests {
  /// Runs every body twice, and undoes what it did the first time: so a store does that could not
  /// complete a transaction.
  private struct RepeatingStore: LocalCloudStore {
    let base: SQLiteStore

    func transaction<Value: Sendable>(
      _ kind: LocalCloudTransactionKind,
      _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
    ) throws(LocalCloudStoreError) -> Value {
      do throws(LocalCloudStoreError) {
        return try base.transaction(kind) { (transaction) throws(LocalCloudStoreError) -> Value in
          _ = try body(transaction)
          throw LocalCloudStoreError(.busy, "again")
        }
      } catch {
        guard error.code == .busy else { throw error }
        return try base.transaction(kind, body)
      }
    }
  }

  @Test(
    "A cloud whose store runs each body again does what handlers must do",
    arguments: SuiteSize.some(4, of: Array(OperationHandlerConformance.all.indices))
  )
  func conforms(index: Int) async throws {
    let check = OperationHandlerConformance.all[index]
    let store = RepeatingStore(base: try SQLiteStore(path: ScratchFolder.shared.newPath()))
    let world = CloudWorld(store: store)
    let cloud = ConformanceCloud(
      zoneID: CloudWorld.zoneID,
      deleteZone: { reason in
        _ = try? world.cloud.deleteZone(
          CloudWorld.zoneID,
          account: CloudWorld.alice,
          reason: reason
        )
      }
    ) { device in world.connect(device).connection }

    for failure in await check.run(cloud) { Issue.record("\(check): \(failure)") }
  }

  @Test("A body that runs again leaves what it leaves when it runs once: tags, tokens, pushes")
  func sameAsOnce() throws {
    let store = RepeatingStore(base: try SQLiteStore(path: ScratchFolder.shared.newPath()))
    let pages = try [CloudWorld(store: store), CloudWorld(.file)]
      .map { world in
        let phone = try world.device()
        let pad = world.connect("pad")
        _ = try pad.subscribe().get()
        try phone.save(phone.note("a"), phone.link("b", to: "a", .deleteSelf))
        _ = try phone.modify([phone.note("c")], delete: ["a"]).get()
        #expect(pad.connection.takePushes().count == 2)
        return try pad.fetch().get()
      }

    #expect(pages[0] == pages[1])
    #expect(pages[0].deletedRecords.count == 2)
  }
}
