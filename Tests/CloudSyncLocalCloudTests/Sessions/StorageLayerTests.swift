import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

/// A storage layer of an app: fields by note, kept in step with a session.
private final class NoteList: Sendable {
  let session: CloudSyncSession
  private let notes = Locked<[String: [String: String]]>([:])

  init(session: CloudSyncSession) {
    self.session = session
    session.fetchWorkCompletedSubject.sink { [notes] _, page in
      for record in page.changedRecords {
        var fields: [String: String] = [:]
        for field in record.fields {
          if case .string(let text) = field.value { fields[field.name] = text }
        }
        notes.withLock { $0[record.recordID.name] = fields }
      }
    }
    session.start()
  }

  var contents: [String: [String: String]] { notes.withLock { $0 } }

  func set(_ field: String, to text: String, of note: String) throws {
    let recordID = RecordID(name: note, zoneID: session.state.zoneID)
    let edit = Record(recordType: "Note", recordID: recordID, fields: [field: .string(text)])
    try session.modify(ModifyOperation(records: [edit]))
  }
}

@Suite("Testing a storage layer with a LocalCloud")
struct StorageLayerTests {
  // DOCUMENTATION: begin
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
  // DOCUMENTATION: end

  @Test("The documentation shows this test")
  func documentationIsUpToDate() throws {
    let file = URL(fileURLWithPath: #filePath)
    var root = file
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let page = root.appendingPathComponent(
      "Sources/CloudSyncLocalCloud/Documentation.docc/CloudSyncLocalCloud.md"
    )
    let shown =
      try
      String(contentsOf: page, encoding: .utf8)
      .components(separatedBy: "```swift\n")[1]
      .components(separatedBy: "```")[0]
    let source = try String(contentsOf: file, encoding: .utf8)
    let parts = source.components(separatedBy: "  // DOCUMENTATION: ")
    let compiled = parts[1].split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
      .map { $0.hasPrefix("  ") ? $0.dropFirst(2) : $0 }.joined(separator: "\n")

    #expect(
      shown.trimmingCharacters(in: .whitespacesAndNewlines)
        == compiled.trimmingCharacters(in: .whitespacesAndNewlines)
    )
  }
}
