import CloudSyncCore

/// The notes of a device as its JSON file has them, and how far they follow the cloud.
struct DemoNotes: Codable {
  /// A note.
  struct Note: Codable {
    /// What the user sees; nil for one that was thrown away, until the cloud knows.
    var text: String?
    /// The record as the cloud had it last.
    var server: Record?
  }

  var notes: [String: Note] = [:]
  /// Where the next fetch begins; nil to fetch everything.
  var changeToken: ChangeToken?
  /// The number of the last page that was stored.
  var lastPage: UInt64 = 0
  /// While everything is fetched: the notes that were in a page.
  var seen: [String]?

  static let zoneID = ZoneID(name: "Notes")

  /// What the user sees.
  var texts: [String: String] { notes.compactMapValues(\.text) }

  // MARK: The user

  /// Gives a note another text, nil to throw it away.
  ///
  /// - Returns: The operation that brings the change to the cloud.
  mutating func edit(_ name: String, _ text: String?) -> ModifyOperation {
    let id = RecordID(name: name, zoneID: Self.zoneID)
    let note = notes[name]
    notes[name] = Note(text: text, server: note?.server)
    guard let text else { return ModifyOperation(recordIDsToDelete: [id]) }
    var ancestor = note?.server
    if let before = note?.text {
      ancestor = ancestor ?? Record(recordType: "Note", recordID: id)
      ancestor?["text"] = .string(before)
    }
    var record = ancestor ?? Record(recordType: "Note", recordID: id)
    record["text"] = .string(text)
    return ModifyOperation(records: [record], ancestors: ancestor.map { [$0] } ?? [])
  }

  // MARK: The session

  /// Stores a page of changes, except where an edit is on its way.
  mutating func take(_ page: FetchOperation.Response, pending: Set<String>) {
    guard page.page.number > lastPage else { return }
    lastPage = page.page.number
    if page.isBeginning { seen = [] }
    if page.startedOver { seen = (seen ?? []) + page.changedRecords.map(\.recordID.name) }
    for record in page.changedRecords { take(record, record.recordID.name, pending) }
    for recordID in page.deletedRecordIDs { take(nil, recordID.name, pending) }
    changeToken = page.changeToken ?? changeToken
    if page.isLast, page.startedOver, let seen {
      // After a fetch of everything, what was in no page is gone.
      let gone = notes.keys.filter { notes[$0]?.server != nil && !seen.contains($0) }
      for name in gone.sorted() { take(nil, name, pending) }
      self.seen = nil
    }
  }

  /// Stores what became of this device's edits.
  mutating func take(_ response: ModifyOperation.Response, pending: Set<String>) {
    for record in response.savedRecords { take(record, record.recordID.name, pending) }
    for recordID in response.deletedRecordIDs { take(nil, recordID.name, pending) }
  }

  private mutating func take(_ record: Record?, _ name: String, _ pending: Set<String>) {
    let isPending = pending.contains(name)
    let text = isPending ? notes[name]?.text : record?["text"]?.stringValue
    notes[name] = text == nil && record == nil ? nil : Note(text: text, server: record)
  }

  /// Forgets what the cloud had, which is gone.
  ///
  /// - Returns: The operation that brings every note to a new zone.
  mutating func forgetCloud(pending: Set<String>) -> ModifyOperation {
    changeToken = nil
    var records: [Record] = []
    for name in notes.keys.sorted() {
      guard let text = notes[name]?.text else {
        notes[name] = nil
        continue
      }
      notes[name] = Note(text: text)
      if pending.contains(name) { continue }
      let id = RecordID(name: name, zoneID: Self.zoneID)
      records.append(Record(recordType: "Note", recordID: id, fields: ["text": .string(text)]))
    }
    return ModifyOperation(records: records)
  }
}
