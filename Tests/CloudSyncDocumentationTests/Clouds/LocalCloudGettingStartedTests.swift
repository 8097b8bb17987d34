// SAMPLE: CloudSyncLocalCloud/GettingStarted.md
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

@Suite("Getting started with a local cloud")
struct LocalCloudGettingStartedTests {
  private let owner = AccountIdentity("owner")
  private let zone = ZoneID(name: "Notes")

  @Test("A note comes to the cloud once the account may keep it")
  func keepsRecords() async throws {
    let cloud = LocalCloud()
    let connection = cloud.connect(device: "mac", account: owner, zoneID: zone)
    let session = CloudSyncSession(operationHandler: connection, zoneID: zone)
    session.start()

    try cloud.setQuota(1, account: owner)  // the user's storage is full
    let rejected = try await session.perform(ModifyOperation(records: [note("Buy milk")]))
    #expect(rejected.failures.map(\.error.code) == [.quotaExceeded])
    #expect(try cloud.records(account: owner, zone: zone).isEmpty)

    try cloud.setQuota(1_000_000, account: owner)  // the user has made room
    session.retryParked()
    #expect(await session.idle(upTo: .seconds(60)))
    let records = try cloud.records(account: owner, zone: zone)
    #expect(records.map { $0["text"]?.stringValue } == ["Buy milk"])
  }

  @Test("A cloud in a file is the same for every process that opens it")
  func staysInAFile() async throws {
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = FileManager.default.temporaryDirectory.path + "/local-cloud-\(process)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }

    let cloud = LocalCloud(store: try SQLiteStore(path: folder + "/notes.cloud"))
    let connection = cloud.connect(device: "mac", account: owner, zoneID: zone)
    let session = CloudSyncSession(operationHandler: connection, zoneID: zone)
    session.start()
    _ = try await session.perform(ModifyOperation(records: [note("Buy eggs")]))

    let other = LocalCloud(store: try SQLiteStore(path: folder + "/notes.cloud"))
    let records = try other.records(account: owner, zone: zone)
    #expect(records.map { $0["text"]?.stringValue } == ["Buy eggs"])
  }

  private func note(_ text: String) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: "1", zoneID: zone),
      fields: ["text": .string(text)]
    )
  }
}
// SAMPLE: end
