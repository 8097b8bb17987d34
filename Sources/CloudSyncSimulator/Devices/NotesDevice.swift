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
    /// Whether all that is not in the cloud has been called off, to be submitted anew.
    var isCallingOff = false
    /// Counts the edits in the order of their submission.
    var turns = 0
    /// How far the cloud's history had come with what is stored.
    var history: [ChangeToken] = []
  }

  /// What does not.
  struct Memory {
    var process: DeviceProcess?
    var session: CloudSyncSession?
    /// The edits that the session had accepted in an earlier process, and the operations in which it has them.
    var known: [Int64: OperationID] = [:]
    /// Whether the session has told what it knows, so that edits can be submitted.
    var isReady = false
    /// Whether a new journal is about to be begun.
    var isCompacting = false
    /// How edits are handed to the session.
    var submission = Submission.call
    /// The operations that were called off and have not ended.
    var calledOff: Set<OperationID> = []
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
    /// Counts the edits in the order of their submission.
    var turn: Int
    /// Whether the session has set it aside.
    var isParked = false
    /// Whether the session has handed it back.
    var isRefused = false
  }

  let setup: DeviceSetup
  /// Draws which calls of its session the app makes.
  let calls: Locked<SeededRandom>
  /// Whether it makes more than the usual ones.
  let hasOddCalls: Bool
  let disk = Locked(Disk())
  let memory = Locked(Memory())

  /// Creates a device without notes.
  public init(_ setup: DeviceSetup) {
    self.setup = setup
    calls = Locked(SeededRandom(seed: setup.seed).fork(1))
    var common = SeededRandom(seed: setup.commonSeed).fork(2)
    hasOddCalls = common.chance(1, in: 2)
  }

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

  /// They do.
  public static var sharesGate: Bool { true }

  /// One that makes modifications from drafts.
  public static var middleware: [any Middleware] { [DraftMiddleware()] }

  /// What was called off is submitted anew.
  public var hasPlans: Bool { disk.withLock { $0.isCallingOff } }

  /// Draws how edits are to be handed to a session.
  func drawSubmission() -> Submission {
    hasOddCalls ? calls.withLock { $0.pick([.call, .accepted, .middleware]) } : .call
  }

  /// Draws whether whole records are submitted.
  var drawsWholeRecords: Bool { hasOddCalls && calls.withLock { $0.chance(1, in: 2) } }

  /// Draws whether the user calls everything off.
  private var callsOffNow: Bool { hasOddCalls && calls.withLock { $0.chance(1, in: 25) } }

  // MARK: The user

  /// Stores edits, and submits them when the session is ready.
  public func apply(_ edits: [DeviceEdit]) {
    disk.withLock { disk in
      for edit in edits {
        disk.turns += 1
        let pending = Pending(edit: edit, page: disk.lastPage, turn: disk.turns)
        disk.notes[edit.name, default: Note()].pending.append(pending)
      }
    }
    guard memory.withLock({ $0.isReady }) else { return }
    submit(edits: edits)
    if callsOffNow { callOff() }
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
    submitRefused()
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
