import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
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
}
