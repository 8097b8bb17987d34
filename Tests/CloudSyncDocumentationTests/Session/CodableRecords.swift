import CloudSyncSession
import Foundation
import Testing

// SAMPLE: CloudSyncRecordCoding/CloudSyncRecordCoding.md
struct Note: Codable, Equatable {
  struct Place: Codable, Equatable { var name: String, latitude: Double, longitude: Double }

  var text: String
  var stars: Int
  var due: Date?
  var tags: [String]
  var place: Place?  // a text of JSON in one field
}
// SAMPLE: end

@Suite("Codable records")
struct CodableRecordsTests {
  @Test("A model comes back as it was")
  func comesBack() throws {
    let id = RecordID(name: "1", zoneID: ZoneID(name: "Notes"))
    let place = Note.Place(name: "Shop", latitude: 52.5, longitude: 13.4)
    let shown = Note(text: "Buy milk", stars: 3, due: nil, tags: ["shop"], place: place)
    let stored = try RecordEncoder().encode(shown, recordType: "Note", recordID: id)
    let (operation, read) = try Self.edit(stored)
    #expect(read == shown)
    #expect(operation.records.first?["stars"] == 5)
  }

  static func edit(_ stored: Record) throws -> (ModifyOperation, Note) {
    let id = stored.recordID
    // SAMPLE: CloudSyncRecordCoding/CloudSyncRecordCoding.md
    let note = try RecordDecoder().decode(Note.self, from: stored)
    var edited = note
    edited.stars = 5
    let record = try RecordEncoder().encode(edited, recordType: "Note", recordID: id)
    let operation = ModifyOperation(
      records: [record.withChangeTag(stored.changeTag)],
      ancestors: [stored]  // only what differs is sent
    )
    // SAMPLE: end
    return (operation, note)
  }
}
