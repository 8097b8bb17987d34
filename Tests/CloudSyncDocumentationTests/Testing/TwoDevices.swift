import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

/// A storage layer over a session, as small as can be.
private final class NoteList: Sendable {
  let session: CloudSyncSession
  private let records = Locked<[RecordID: Record]>([:])

  init(session: CloudSyncSession) {
    self.session = session
    session.fetchWorkCompletedSubject.sink { [weak self] _, page in
      guard let self else { return }
      store(page.recordsToStore { self.record($0) })
    }
    session.modifyWorkCompletedSubject.sink { [weak self] _, response in
      guard let self else { return }
      store(response.recordsToStore { self.record($0) })
    }
    session.start()
  }

  var contents: [RecordID: [String: FieldValue]] {
    records.withLock { $0.mapValues { record in Self.fields(of: record) } }
  }

  private static func fields(of record: Record) -> [String: FieldValue] {
    var fields: [String: FieldValue] = [:]
    for name in ["title", "text"] { fields[name] = record[name] }
    return fields
  }

  func record(_ id: RecordID) -> Record? { records.withLock { $0[id] } }

  private func store(_ changed: [Record]) {
    records.withLock { for record in changed { $0[record.recordID] = record } }
  }

  func set(_ field: String, to text: String, of name: String) throws {
    let id = RecordID(name: name, zoneID: session.state.zoneID)
    var edit = Record(recordType: "Note", recordID: id)
    edit[field] = .string(text)
    try session.modify(ModifyOperation(records: [edit.withChangeTag(record(id)?.changeTag)]))
  }
}

@Suite("A storage layer over a local cloud")
struct TwoDevicesTests {
  // SAMPLE: CloudSyncLocalCloud/CloudSyncLocalCloud.md
  @Test("A note that is edited on two devices keeps both edits")
  func bothEditsArrive() async throws {
    let (alice, zone) = (AccountIdentity("alice"), ZoneID(name: "Notes"))
    let cloud = LocalCloud()
    let devices = ["phone", "pad"]
      .map { name in
        NoteList(
          session: CloudSyncSession(
            operationHandler: cloud.connect(device: name, account: alice, zoneID: zone),
            zoneID: zone
          )
        )
      }

    try devices[0].set("title", to: "Tea", of: "note")
    try devices[1].set("text", to: "Green, 80 °C", of: "note")
    for device in devices { _ = await device.session.idle(upTo: .seconds(600)) }
    for device in devices { _ = await device.session.fetchNow(upTo: .seconds(600)) }

    let stored = try cloud.records(account: alice, zone: zone)
    #expect(stored.map(\.fields.count) == [2])
    #expect(devices[0].contents == devices[1].contents)
  }
  // SAMPLE: end

  // SAMPLE: CloudSyncLocalCloud/CloudSyncLocalCloud.md
  /// The way of one device to a cloud in a file, for an engine or a session.
  func connect(device: String, cloudAt path: String) throws -> LocalCloudConnection {
    let cloud = LocalCloud(
      store: try SQLiteStore(path: path),  // created if it is missing
      assetFolder: path + "-assets"  // for files that records refer to
    )
    return cloud.connect(
      device: device,  // unlike the others' names
      account: AccountIdentity("owner"),  // the same for all who share records
      zoneID: ZoneID(name: "Notes")
    )
  }
  // SAMPLE: end

  @Test("Two connections to one file share records")
  func sharesFile() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-shared-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("shared.cloud").path
    let zone = ZoneID(name: "Notes")
    let devices = try ["phone", "pad"]
      .map { name in
        NoteList(
          session: CloudSyncSession(
            operationHandler: try connect(device: name, cloudAt: path),
            zoneID: zone
          )
        )
      }
    try devices[0].set("title", to: "Tea", of: "note")
    _ = await devices[0].session.idle(upTo: .seconds(600))
    _ = await devices[1].session.fetchNow(upTo: .seconds(600))
    #expect(devices[1].contents == devices[0].contents)
    #expect(!devices[1].contents.isEmpty)
  }

  @Test("A session that is restored resolves conflicts with the function that it is given")
  func restoresWithFunction() async throws {
    let (owner, zone, cloud) = (AccountIdentity("owner"), ZoneID(name: "Notes"), LocalCloud())
    let handler = cloud.connect(device: "phone", account: owner, zoneID: zone)
    let journal = Locked(Data())
    let killed = CloudSyncSession(operationHandler: handler, zoneID: zone)
    killed.journal { bytes in journal.withLock { $0.append(bytes) } }
    var note = Record(recordType: "Note", recordID: RecordID(name: "note", zoneID: zone))
    note["title"] = "of the phone"
    let operation = ModifyOperation(records: [note])
    await withCheckedContinuation { continuation in
      #expect(throws: Never.self) {
        try killed.modify(operation, accepted: { _ in continuation.resume() })
      }
    }
    let pad = NoteList(
      session: CloudSyncSession(
        operationHandler: cloud.connect(device: "pad", account: owner, zoneID: zone),
        zoneID: zone
      )
    )
    try pad.set("title", to: "of the pad", of: "note")
    _ = await pad.session.idle(upTo: .seconds(600))

    let restored = CloudSyncSession(
      restoring: try SyncArchive(journal.withLock { $0 }),
      operationHandler: handler,
      resolveConflict: { client, server in
        var merged = server
        merged["title"] = .string("\(server["title"] ?? .null), \(client["title"] ?? .null)")
        return merged
      }
    )
    restored.start()
    _ = await restored.idle(upTo: .seconds(600))

    let stored = try cloud.records(account: owner, zone: zone)
    #expect(stored.map { $0["title"] } == ["of the pad, of the phone"])
  }
}
