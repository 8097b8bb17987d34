import CloudSyncEventLog
import CloudSyncSession
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The notes of one folder, with a session under them: this is the embedding.
///
/// What the user sees is in the notes' file, what the cloud has not got yet is in the session's
/// journal, and both are on disk before anybody is told.
final class Notebook: Sendable {
  let session: CloudSyncSession
  private let path: String
  private let journal: JournalFile
  private let recorder: EventRecorder?
  private let store: Mutex<NoteStore>
  /// How many notes the cloud has changed, and has been told of.
  private let counts = Mutex((received: 0, sent: 0))

  /// Opens a folder; a new one is created.
  init(_ arguments: Arguments) throws(NotesError) {
    let folder = arguments.folder
    try FileAccess.createFolder(folder)
    guard try FileAccess.lock("\(folder)/lock") else {
      throw NotesError("another notes command is using \(folder); wait until it is done")
    }
    path = "\(folder)/notes.json"
    let stored = try NoteStore.read(path)
    if let stored, let device = arguments.device, device != stored.device {
      throw NotesError(
        "\(folder) belongs to the device “\(stored.device)”; "
          + "leave out --device, or choose another --folder"
      )
    }
    journal = JournalFile("\(folder)/session.journal")
    let archive = try journal.read()
    let cloud = FileCloud(path: arguments.cloud, losesAnswers: arguments.losesAnswers)
    session = Self.makeSession(archive, AsyncHandlerAdapter(cloud))
    // The user's own machine: the log may say what the notes say, and every event is written at once.
    recorder = arguments.log.map { path in
      EventRecorder(.file(LogFile(path: path, bufferSize: 1)), redactor: .none)
    }
    recorder?.attach(to: session)
    store = Mutex(stored ?? NoteStore(device: arguments.device ?? Self.newDeviceName()))
    try bringIntoStep(with: archive)
    // After that: the snapshot that the journal begins with has the edits of a lost one.
    session.journal { [journal] bytes in journal.write(bytes) }
    listen()
  }

  private static func makeSession(
    _ archive: SyncArchive?,
    _ handler: some OperationHandler
  ) -> CloudSyncSession {
    if let archive {
      return CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        resolver: .keepingBothTexts
      )
    }
    var configuration = SyncConfiguration()
    // When the cloud's file is gone, this device sends its notes again: see `zoneIsLost`.
    configuration.zonePolicy.missing = .ask
    return CloudSyncSession(
      operationHandler: handler,
      zoneID: NoteStore.zoneID,
      configuration: configuration,
      resolver: .keepingBothTexts
    )
  }

  private static func newDeviceName() -> String { String(UUID().uuidString.prefix(6)).lowercased() }

  /// Repairs what a crash between the two files left, and what a lost journal took away.
  private func bringIntoStep(with archive: SyncArchive?) throws(NotesError) {
    if let archive {
      try change { $0.apply(Pending(archive.state)) }
    } else {
      try change { $0.beginAnew() }
      for note in store.withLock({ $0.notes }) where note.isUnsent { try submit(note) }
    }
  }

  // MARK: From the session to the notes

  private func listen() {
    // The session holds these closures, and the notebook the session: hence `weak`.
    session.fetchWorkCompletedSubject.sink { [weak self] _, page in self?.take(page) }
    session.modifyWorkCompletedSubject.sink { [weak self] _, response in self?.take(response) }
    session.parkedSubject.sink { [weak self] change in self?.take(change) }
    session.zoneSubject.sink { [weak self] zone in
      if case .lost = zone { self?.zoneIsLost() }
    }
  }

  /// Stores a page: when this returns, the session may forget it.
  private func take(_ page: FetchOperation.Response) {
    let pending = Pending(session.state)
    let count = changeOrExit { $0.take(page, pending: pending) }
    counts.withLock { $0.received += count }
  }

  private func take(_ response: ModifyOperation.Response) {
    let pending = Pending(session.state)
    changeOrExit { $0.take(response, pending: pending) }
    let count =
      response.savedRecords.count + response.alreadyInCloud.count + response.deletedRecordIDs.count
    counts.withLock { $0.sent += count }
  }

  private func take(_ change: ParkedChange) {
    let pending = Pending(session.state)
    switch change {
    case .saved(let record): changeOrExit { $0.takeSaved(record, pending) }
    case .alreadyInCloud(let record):
      changeOrExit { $0.takeServer(record, record.recordID, pending) }
    case .deleted(let recordID): changeOrExit { $0.takeServer(nil, recordID, pending) }
    case .refused, .dropped: break
    }
  }

  /// The cloud's file is gone: everything goes into a new one.
  private func zoneIsLost() {
    let pending = Pending(session.state)
    let notes = changeOrExit { store in
      store.changeToken = nil
      store.notes.removeAll { $0.text == nil && !pending.names.contains($0.id) }
      for index in store.notes.indices { store.notes[index].server = nil }
      return store.notes
    }
    do throws(NotesError) {
      for note in notes where !pending.names.contains(note.id) { try submit(note) }
    } catch { Output.error(error) }
    session.decideZone(.recreate)
  }

  /// Changes the notes and their file.
  @discardableResult
  private func change<Value: Sendable>(
    _ body: (inout NoteStore) -> Value
  ) throws(NotesError) -> Value {
    let result = store.withLock { store -> Result<Value, NotesError> in
      let value = body(&store)
      do throws(NotesError) { try store.write(path) } catch { return .failure(error) }
      return .success(value)
    }
    return try result.get()
  }

  /// Changes the notes inside a callback of the session's.
  ///
  /// Returning would tell the session that the change is stored. What cannot be stored ends the
  /// process, and is announced again by the next one.
  @discardableResult
  private func changeOrExit<Value: Sendable>(_ body: (inout NoteStore) -> Value) -> Value {
    do throws(NotesError) { return try change(body) } catch {
      Output.error(error)
      NotesTool.exit(1)
    }
  }

  // MARK: From the user to the session

  var notes: [Note] { store.withLock { $0.visible } }
  var device: String { store.withLock { $0.device } }
  var receivedCount: Int { counts.withLock { $0.received } }
  var sentCount: Int { counts.withLock { $0.sent } }

  func add(_ text: String) async throws -> String {
    let id = store.withLock { $0.newID() }
    try await submit(nil, id, text)
    return id
  }

  func edit(_ id: String, _ text: String) async throws {
    try await submit(try note(id), id, text)
  }

  func delete(_ id: String) async throws {
    try await submit(try note(id), id, nil)
  }

  private func note(_ id: String) throws(NotesError) -> Note {
    try store.withLock { store in Result { () throws(NotesError) in try store.note(id) } }.get()
  }

  /// Has an edit accepted: it is in the journal, then in the notes, and then the user hears of it.
  ///
  /// The notes are changed in order with the session's pages: one that comes meanwhile is not lost.
  private func submit(_ note: Note?, _ id: String, _ text: String?) async throws {
    let operation = NoteStore.operation(from: note, to: text, id: id)
    try session.modify(
      operation,
      accepted: { [weak self] _ in
        // The journal first: what it holds is done again after a crash, see `apply`.
        self?.syncJournalOrExit()
        self?.changeOrExit { $0.set(id, text) }
      }
    )
    try await flush()
  }

  private func syncJournalOrExit() {
    do throws(NotesError) { try journal.sync() } catch {
      Output.error(error)
      NotesTool.exit(1)
    }
  }

  /// Submits a note as it is, from what the cloud has of it.
  private func submit(_ note: Note) throws(NotesError) {
    var known = note
    known.text = note.server?["text"]?.stringValue
    let operation = NoteStore.operation(
      from: note.server == nil ? nil : known,
      to: note.text,
      id: note.id
    )
    do throws(RecordRuleViolation) { try session.modify(operation) } catch {
      throw NotesError("\(error)")
    }
  }

  /// Waits until everything called before is in the journal, and the journal on disk.
  func flush() async throws {
    _ = await session.snapshot()
    try journal.sync()
  }

  /// Ends the event log, if there is one, and sees that it is all on disk.
  func endRecording() async throws {
    guard let recorder else { return }
    recorder.detach(from: session)
    _ = await session.snapshot()
    try recorder.flush()
  }

  // MARK: Synchronizing

  /// Sends and fetches until nothing is left to do, or the time is over.
  func sync(upTo limit: Duration) async throws {
    let token = store.withLock { $0.changeToken }
    session.start()
    session.fetch(FetchOperation(changeToken: token, startingOver: token == nil))
    // Calls are taken in order: from here on the state knows of both.
    try await flush()
    let timer = Task { [session] in
      try await Task.sleep(for: limit)
      let explanation = session.explain()
      session.stop()
      throw NotesError("not everything is done after \(limit): \(explanation)")
    }
    for await state in session.statePublisher.values(buffering: .newest)
    where state.isHalted || !state.hasWorkQueued {
      break
    }
    timer.cancel()
    // What was called back for the last time is stored once this returns.
    try await flush()
    if let reason = session.state.haltReason {
      if reason.error.code == .stopped { try await timer.value }
      throw NotesError("the session is stopped: \(reason.error)")
    }
  }
}

extension ConflictResolver {
  /// Keeps what both devices wrote into a note, the cloud's text first.
  static let keepingBothTexts = ConflictResolver.fieldwise([
    "text": .custom { client, server, _ in
      guard let mine = client.stringValue, let theirs = server?.stringValue else { return client }
      return theirs.contains(mine) ? .string(theirs) : .string("\(theirs) / \(mine)")
    }
  ])
}
