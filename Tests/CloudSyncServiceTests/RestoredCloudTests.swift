import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices
import Testing

@Suite("A served cloud that was put back")
struct RestoredCloudTests {
  private static func note(_ name: String) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: name, zoneID: ServiceWorld.zoneID),
      fields: ["x": .int64(1)]
    )
  }

  private static func isReset<Value>(_ result: Result<Value, SyncError>) -> Bool {
    guard case .failure(let error) = result else { return false }
    return error.code == .zoneNotFound && error.isEncryptedDataReset
  }

  @Test("1. Whoever was answered a save that is lost is told so by every request, over HTTP too")
  func answeredSave() async throws {
    let store = MemoryStore()
    let world = ServiceWorld(store: store)
    let phone = HistoryKeepingHandler(try world.handler("phone"))
    let pad = HistoryKeepingHandler(try world.handler("pad"))
    _ = try await phone.createZone().get()
    _ = try await phone.modify([Self.note("a")], token: 1).get()
    let page = try await phone.fetch().get()
    _ = try await pad.fetch().get()
    let backup = store.backup()
    _ = try await phone.modify([Self.note("b")], token: 2).get()
    store.restore(backup, isClosed: true)
    // The other one has seen nothing of it, and writes as much as was lost.
    _ = try await pad.modify([Self.note("c")], token: 3).get()

    let fetch = await phone.fetch(FetchOperation(changeToken: page.changeToken))
    #expect(Self.isReset(fetch))
    #expect(Self.isReset(await phone.modify([Self.note("d")], token: 4)))
    let id = RecordID(name: "a", zoneID: ServiceWorld.zoneID)
    #expect(Self.isReset(await phone.fetch(FetchOperation(lookingUp: [id]))))
    let records = try world.cloud.records(account: ServiceWorld.alice, zone: ServiceWorld.zoneID)
    #expect(records.map(\.recordID.name).sorted() == ["a", "c"])

    // A session makes its zone then, which is there, and goes on.
    _ = try await phone.createZone().get()
    _ = try await phone.modify([Self.note("b")], token: 5).get()
  }

  @Test("1. A record that a save has met is what was told too")
  func metRecord() async throws {
    let store = MemoryStore()
    let world = ServiceWorld(store: store)
    let phone = HistoryKeepingHandler(try world.handler("phone"))
    let pad = HistoryKeepingHandler(try world.handler("pad"))
    _ = try await phone.createZone().get()
    _ = try await pad.fetch().get()
    let backup = store.backup()
    _ = try await phone.modify([Self.note("a")], token: 1).get()
    // It exists already.
    let met = try await pad.modify([Self.note("a")], token: 2).get()
    #expect(met.failures.map(\.error.code) == [.serverRecordChanged])
    store.restore(backup, isClosed: true)

    #expect(Self.isReset(await pad.fetch()))
  }
}
