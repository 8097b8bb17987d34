// SAMPLE: CloudSyncCore/GettingStarted.md
import CloudSyncLocalCloud
import CloudSyncSession
import Testing

@Suite("Getting started with a session")
struct SessionGettingStartedTests {
  @Test("A note that one session saves, another one fetches")
  func meets() async throws {
    let zone = ZoneID(name: "Notes")
    let cloud = LocalCloud()
    let (mac, phone) = (session("mac", zone, cloud), session("phone", zone, cloud))
    let pages = phone.fetchWorkCompletedSubject.values()

    mac.start()
    var note = Record(recordType: "Note", recordID: RecordID(name: "1", zoneID: zone))
    note["text"] = "Buy milk"
    let response = try await mac.perform(ModifyOperation(records: [note]))
    #expect(response.unsaved.isEmpty)

    phone.start()
    #expect(await phone.fetchNow(upTo: .seconds(60)) == .new)
    for await (_, page) in pages where !page.changedRecords.isEmpty {
      #expect(page.changedRecords.map { $0["text"]?.stringValue } == ["Buy milk"])
      break
    }
  }

  private func session(_ device: String, _ zone: ZoneID, _ cloud: LocalCloud) -> CloudSyncSession {
    CloudSyncSession(
      operationHandler: cloud.connect(
        device: device,
        account: AccountIdentity("owner"),
        zoneID: zone
      ),
      zoneID: zone
    )
  }
}
// SAMPLE: end
