public import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A small and careful app: records with a few numbers, a journal, and edits that are kept until
/// the session has said what became of them.
///
/// It is the default of a ``Simulation``, and an example of what a storage layer has to do:
///
/// - An edit is stored before it is submitted. After a restart those that the session does not
///   know are submitted again, in their order.
/// - What the user sees is the cloud's record with the edits over it that are not in the cloud.
/// - A page is taken once, by its number.
/// - What the cloud has told of its history is stored before what it has answered: so a cloud that was put back from a
///   backup is recognized.
/// - What was saved has only the fields that were sent. After a restart the end of an operation may be
///   told once more, and the page behind it, which is taken once, may have brought something newer; so a
///   record of which a page has told since the edit is taken from pages only.
public final class NotesDevice: SimulatedDevice {
  /// What survives the process.
  struct Disk {
    var notes: [String: Note] = [:]
    /// The session's journal, how large its first piece is, and where the last one begins.
    var journal = Data()
    var firstPiece = 0
    var lastPiece = 0
    var lastPage: UInt64 = 0
    /// While everything is fetched: the names that were in a page.
    var seen: Set<String>?
    /// How far the cloud's history had come with what is stored.
    var history: [ChangeToken] = []
  }

  /// What does not.
  struct Memory {
    var process: DeviceProcess?
    var session: CloudSyncSession?
    /// The edits that the session had accepted in an earlier process.
    var known: Set<Int64> = []
    /// Whether the session has told what it knows, so that edits can be submitted.
    var isReady = false
    /// Whether a new journal is about to be begun.
    var isCompacting = false
  }

  /// A record on this device.
  struct Note {
    /// As the cloud had it last; nil if it has none.
    var server: Record?
    /// The last page that said something about it.
    var page: UInt64 = 0
    /// Edits that are not known to be in the cloud, in order.
    var pending: [Pending] = []

    var isEmpty: Bool { server == nil && pending.isEmpty }
  }

  struct Pending {
    var edit: DeviceEdit
    /// The last page that was stored when the edit was made.
    var page: UInt64
    /// Whether the session has set it aside.
    var isParked = false
  }

  let setup: DeviceSetup
  let disk = Locked(Disk())
  let memory = Locked(Memory())

  /// Creates a device without notes.
  public init(_ setup: DeviceSetup) { self.setup = setup }

  /// The session of the running app.
  public var session: CloudSyncSession? { memory.withLock { $0.session } }

  /// The journal.
  public var archive: Data? { disk.withLock { $0.journal } }

  /// Loses the second half of what was written last.
  public func tearArchive(leaving tail: Data) -> Bool {
    disk.withLock { disk in
      let size = disk.journal.count - disk.lastPiece
      // A first piece replaces the file as a whole.
      guard disk.lastPiece > 0, size > 1 else { return false }
      disk.journal.removeLast(size / 2)
      disk.journal.append(tail)
      return true
    }
  }

  // MARK: The user

  /// Stores edits, and submits them when the session is ready.
  public func apply(_ edits: [DeviceEdit]) {
    disk.withLock { disk in
      for edit in edits {
        let pending = Pending(edit: edit, page: disk.lastPage)
        disk.notes[edit.name, default: Note()].pending.append(pending)
      }
    }
    if memory.withLock({ $0.isReady }) { submit(edits: edits) }
  }

  /// What the user sees.
  public func contents() -> [DeviceRecord] {
    disk.withLock { disk in
      disk.notes.keys.sorted().compactMap { name in disk.notes[name]?.visible(name: name) }
    }
  }

  /// Fetches what has changed.
  ///
  /// A zone that is lost may be there again: a record that is looked up tells.
  public func fetch() {
    guard let session else { return }
    session.fetch()
    guard case .lost = session.state.zoneState,
      let name = disk.withLock({ $0.notes.keys.min() })
    else { return }
    session.fetch(FetchOperation(lookingUp: [RecordID(name: name, zoneID: setup.zoneID)]))
  }

  /// Gets the session going again.
  public func repair() {
    guard let session else { return }
    let state = session.state
    if case .lost = state.zoneState { session.decideZone(.recreate) }
    if state.isHalted { session.start() }
    if !state.parkedRecords.isEmpty { session.retryParked() }
  }

  // MARK: Submitting

  /// Submits edits of different records as one operation.
  func submit(edits: [DeviceEdit]) {
    guard let session, !edits.isEmpty else { return }
    let operation = disk.withLock { disk in
      var records: [Record] = []
      var deletions: [RecordID] = []
      for edit in edits {
        let recordID = RecordID(name: edit.name, zoneID: setup.zoneID)
        switch edit.change {
        case .delete: deletions.append(recordID)
        case .set(let field):
          records.append(
            Record(
              recordType: "Note",
              recordID: recordID,
              fields: [field: .int64(edit.number)],
              changeTag: disk.notes[edit.name]?.server?.changeTag
            )
          )
        }
      }
      return ModifyOperation(
        records: records,
        recordIDsToDelete: deletions,
        userInfo: ["edits": edits.map { "\($0.number)" }.joined(separator: " ")]
      )
    }
    do throws(RecordRuleViolation) { try session.modify(operation) } catch {
      preconditionFailure("The device made an edit that breaks a rule: \(error).")
    }
  }

  /// The numbers of the edits that an operation carries.
  static func numbers(of operation: ModifyOperation) -> [Int64] {
    operation.userInfo?["edits"]?.split(separator: " ").compactMap { Int64($0) } ?? []
  }
}

extension NotesDevice.Note {
  /// The record as the user sees it; nil if there is none.
  func visible(name: String) -> DeviceRecord? {
    guard !pending.isEmpty else { return server.map(DeviceRecord.init) }
    var fields = server.map { DeviceRecord($0).fields } ?? []
    var exists = server != nil
    for pending in pending {
      switch pending.edit.change {
      case .delete:
        fields = []
        exists = false
      case .set(let field):
        exists = true
        fields.removeAll { $0.name == field }
        fields.append(.init(name: field, value: pending.edit.number))
      }
    }
    guard exists else { return nil }
    return DeviceRecord(name: name, fields: fields.sorted { $0.name < $1.name })
  }
}
