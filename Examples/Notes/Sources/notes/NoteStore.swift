import CloudSyncSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One note as this device has it.
struct Note: Codable, Sendable {
  let id: String
  /// What the user sees, unsent edits included; nil for a note that was thrown away, as long as the
  /// cloud does not know that.
  var text: String?
  /// The record as the cloud had it last; nil for a note that it does not have.
  var server: Record?

  /// Whether the cloud has something else than the user sees.
  var isUnsent: Bool { text != server?["text"]?.stringValue }
}

/// The notes of one device, and the place in the cloud's changes up to which they go.
///
/// A page of changes and its token are stored together, in one replacement of the file: with the
/// token alone the page would be lost in a crash.
struct NoteStore: Codable, Sendable {
  var version = 1
  /// What the names of this device's notes begin with.
  let device: String
  /// The number of the next note.
  var nextNumber = 1
  /// Where the next fetch begins; nil to fetch everything.
  var changeToken: ChangeToken?
  /// The number of the last page that is stored.
  var lastPage: UInt64 = 0
  /// While everything is fetched: the notes that were in a page, or were saved since.
  var seen: [String]?
  var notes: [Note] = []

  init(device: String) { self.device = device }

  static let zoneID = ZoneID(name: "Notes")

  static func recordID(_ id: String) -> RecordID { RecordID(name: id, zoneID: zoneID) }

  // MARK: The user

  /// The notes that the user sees, those of a device together, in the order of their numbers.
  var visible: [Note] {
    notes.filter { $0.text != nil }.sorted { Self.key($0.id) < Self.key($1.id) }
  }

  private static func key(_ id: String) -> (String, Int) {
    let parts = id.split(separator: "-")
    return (parts.dropLast().joined(separator: "-"), parts.last.flatMap { Int($0) } ?? 0)
  }

  /// Finds a note that the user sees.
  func note(_ id: String) throws(NotesError) -> Note {
    guard let note = notes.first(where: { $0.id == id && $0.text != nil }) else {
      throw NotesError("there is no note “\(id)”; “notes list” shows all")
    }
    return note
  }

  func newID() -> String { "\(device)-\(nextNumber)" }

  /// Gives a note another text, or throws it away; a new one is added.
  mutating func set(_ id: String, _ text: String?) {
    if id == newID() { nextNumber += 1 }
    if let index = notes.firstIndex(where: { $0.id == id }) {
      notes[index].text = text
    } else {
      notes.append(Note(id: id, text: text))
    }
  }

  /// The operation that brings a note to the cloud as the user sees it.
  ///
  /// The ancestor is what the user edited, an unsent edit included: the session sends what differs
  /// from it, and shows it to the conflict resolver.
  static func operation(from note: Note?, to text: String?, id: String) -> ModifyOperation {
    let recordID = recordID(id)
    guard let text else { return ModifyOperation(recordIDsToDelete: [recordID]) }
    var ancestor = note?.server
    if let unsent = note?.text {
      ancestor = ancestor ?? Record(recordType: "Note", recordID: recordID)
      ancestor?["text"] = .string(unsent)
    }
    var record = ancestor ?? Record(recordType: "Note", recordID: recordID)
    record["text"] = .string(text)
    return ModifyOperation(records: [record], ancestors: ancestor.map { [$0] } ?? [])
  }

  // MARK: The session

  /// Does again what the session has accepted, in case that a crash came before the notes were
  /// stored; otherwise nothing changes.
  mutating func apply(_ pending: Pending) {
    for edit in pending.edits {
      // A number that is given away is not given again.
      while edit.id == newID() { nextNumber += 1 }
      if edit.text != nil || notes.contains(where: { $0.id == edit.id }) { set(edit.id, edit.text) }
    }
  }

  /// Begins with a new session, which counts its pages from 1 and knows of no run that was under way.
  mutating func beginAnew() {
    lastPage = 0
    if seen != nil { changeToken = nil }
    seen = nil
  }

  /// Takes a page of changes, except where an edit of the user's is on its way.
  ///
  /// - Returns: How many notes look different now.
  mutating func take(_ page: FetchOperation.Response, pending: Pending) -> Int {
    // After a crash a page may be announced that is stored already.
    guard page.page.number > lastPage else { return 0 }
    lastPage = page.page.number
    let before = visibleTexts
    if page.isBeginning { seen = [] }
    if page.startedOver {
      seen = (seen ?? []) + page.namedRecordIDs.map(\.name)
    }
    for record in page.changedRecords {
      takeServer(record, record.recordID, pending)
    }
    for recordID in page.deletedRecordIDs { takeServer(nil, recordID, pending) }
    if let token = page.changeToken { changeToken = token }
    if page.isLast, page.startedOver, let seen {
      // After a fetch of everything, what was in no page and was not saved meanwhile is gone.
      let gone = notes.filter {
        $0.server != nil && !seen.contains($0.id) && !pending.names.contains($0.id)
      }
      for note in gone { takeServer(nil, Self.recordID(note.id), pending) }
      self.seen = nil
    }
    return Self.changes(before, visibleTexts)
  }

  /// Takes what the cloud did with this device's edits.
  mutating func take(_ response: ModifyOperation.Response, pending: Pending) {
    for record in response.savedRecords { takeSaved(record, pending) }
    for record in response.alreadyInCloud { takeServer(record, record.recordID, pending) }
    for recordID in response.deletedRecordIDs { takeServer(nil, recordID, pending) }
  }

  /// Takes a record that was saved: it holds what was sent, not the whole record.
  mutating func takeSaved(_ record: Record, _ pending: Pending) {
    // What is saved while everything is fetched may be in no page.
    seen?.append(record.recordID.name)
    let server = notes.first { $0.id == record.recordID.name }?.server
    takeServer(record.merged(into: server), record.recordID, pending)
  }

  /// Takes the cloud's record, nil if it has none.
  mutating func takeServer(_ record: Record?, _ recordID: RecordID, _ pending: Pending) {
    let id = recordID.name
    let isPending = pending.names.contains(id)
    guard let index = notes.firstIndex(where: { $0.id == id }) else {
      guard let record else { return }
      notes.append(Note(id: id, text: record["text"]?.stringValue, server: record))
      return
    }
    notes[index].server = record
    if !isPending { notes[index].text = record?["text"]?.stringValue }
    if notes[index].text == nil, record == nil { notes.remove(at: index) }
  }

  private var visibleTexts: [String: String] {
    Dictionary(notes.compactMap { note in note.text.map { (note.id, $0) } }) { _, last in last }
  }

  private static func changes(_ before: [String: String], _ after: [String: String]) -> Int {
    after.count { before[$0.key] != $0.value } + before.count { after[$0.key] == nil }
  }

  // MARK: The file

  /// Reads the file of a folder; nil if there is none.
  static func read(_ path: String) throws(NotesError) -> NoteStore? {
    guard let data = try FileAccess.read(path) else { return nil }
    let store: NoteStore
    do { store = try JSONDecoder().decode(NoteStore.self, from: data) } catch {
      throw NotesError(
        "\(path) is damaged (\(reason(error))); "
          + "move it away: “notes sync” then fetches the notes anew"
      )
    }
    guard store.version == 1 else {
      throw NotesError("\(path) has version \(store.version), this program reads version 1")
    }
    return store
  }

  func write(_ path: String) throws(NotesError) {
    try FileAccess.replace(path, with: try encodedJSON(self))
  }
}

/// The edits that a session has accepted and the cloud has not.
struct Pending {
  /// In the order in which they were made; a text of nil is a deletion.
  var edits: [(id: String, text: String?)] = []
  var names: Set<String> = []

  init(_ state: SyncState) {
    for unsent in state.unsentEdits { add(unsent.recordID, unsent.edit) }
  }

  private mutating func add(_ recordID: RecordID, _ edit: Record?) {
    names.insert(recordID.name)
    // An edit that says nothing about the text leaves it as it is.
    if let edit, edit["text"] == nil { return }
    edits.append((recordID.name, edit?["text"]?.stringValue))
  }
}

/// JSON that people can read and compare.
func encodedJSON(_ value: some Encodable) throws(NotesError) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  do { return try encoder.encode(value) + Data("\n".utf8) } catch {
    throw NotesError("the notes cannot be encoded: \(error)")
  }
}

/// What is wrong with a JSON file, in one line.
func reason(_ error: any Error) -> String {
  guard let error = error as? DecodingError else { return "\(error)" }
  switch error {
  case .dataCorrupted(let context):
    return context.codingPath.isEmpty
      ? "it is no JSON" : "\(path(context)) \(context.debugDescription)"
  case .keyNotFound(let key, let context):
    return
      "“\(key.stringValue)” is missing\(context.codingPath.isEmpty ? "" : " in \(path(context))")"
  case .typeMismatch(_, let context), .valueNotFound(_, let context):
    return "\(path(context)) has a value of the wrong kind"
  @unknown default: return "\(error)"
  }
}

private func path(_ context: DecodingError.Context) -> String {
  let parts = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
  return parts.isEmpty ? "the file" : parts.joined(separator: ".")
}
