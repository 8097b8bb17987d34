import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
import Testing

@Suite("Getting started with a session")
struct SessionGettingStartedTests {
  // SAMPLE: CloudSyncCore/GettingStarted.md
  @Test("A note that one session saves, another one fetches")
  func meets() async throws {
    let zone = ZoneID(name: "Notes")
    let cloud = LocalCloud()
    let (mac, phone) = (session("mac", zone, cloud), session("phone", zone, cloud))
    let texts = Texts()
    phone.fetchWorkCompletedSubject.sink { _, page in texts.add(page.changedRecords) }

    mac.start()
    var note = Record(recordType: "Note", recordID: RecordID(name: "1", zoneID: zone))
    note["text"] = "Buy milk"
    let response = try await mac.perform(ModifyOperation(records: [note]))
    #expect(response.unsaved.isEmpty)

    phone.start()
    #expect(await phone.fetchNow(upTo: .seconds(60)) == .new)
    #expect(texts.all == ["Buy milk"])
  }

  func session(_ device: String, _ zone: ZoneID, _ cloud: LocalCloud) -> CloudSyncSession {
    CloudSyncSession(
      operationHandler: cloud.connect(
        device: device,
        account: AccountIdentity("owner"),
        zoneID: zone
      ),
      zoneID: zone
    )
  }
  // SAMPLE: end

  /// Where a storage layer would be.
  final class Texts: Sendable {
    private let texts = Locked<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ records: [Record]) {
      texts.withLock { $0 += records.compactMap { $0["text"]?.stringValue } }
    }
  }
}
