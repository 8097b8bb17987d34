import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension NotesDevice {
  /// Starts the app.
  public func launch(_ process: DeviceProcess) {
    let session: CloudSyncSession
    let handler = HistoryKeepingHandler(process.handler, tokens: disk.withLock { $0.history }) {
      [weak self] tokens in
      if process.isAlive { self?.disk.withLock { $0.history = tokens } }
    }
    var known: [Int64: OperationID] = [:]
    if let archive = stored() {
      // As it was stored: what the session does with it from now on, it will say.
      for operation in archive.state.modifyQueue {
        for number in Self.numbers(of: operation) { known[number] = operation.id }
      }
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        configuration: process.configuration,
        resolver: process.resolver,
        callbackExecutor: process.callbackExecutor,
        gate: process.gate,
        environment: process.environment
      )
    } else {
      disk.withLock { disk in
        disk.lastPage = 0
        disk.seen = nil
      }
      session = CloudSyncSession(
        operationHandler: handler,
        zoneID: setup.zoneID,
        configuration: process.configuration,
        resolver: process.resolver,
        callbackExecutor: process.callbackExecutor,
        gate: process.gate,
        environment: process.environment
      )
    }
    process.adopt(session)
    let accepted = known
    let submission = drawSubmission()
    if submission == .middleware { session.appendMiddleware(DraftMiddleware()) }
    memory.withLock {
      $0 = Memory(process: process, session: session, known: accepted)
      $0.submission = submission
    }
    listen(to: session, process: process)
    beginJournal(of: session, process: process)
    session.start()
    // By then the session has announced what was not known to be delivered.
    afterAll { device, _ in device.becomeReady() }
  }

  /// What is to be restored.
  private func stored() -> SyncArchive? {
    let journal = disk.withLock { $0.journal }
    guard !journal.isEmpty else { return nil }
    do throws(CodedError) { return try SyncArchive(journal) } catch {
      // The simulation reports it; the edits are stored, so a new session gets them all.
      return nil
    }
  }

  /// Forgets the session.
  public func quit() {
    let old = memory.withLock { memory in
      defer { memory = Memory() }
      return memory.session
    }
    _ = consume old  // Released outside the lock.
  }

  /// Has the session write a new journal; its first piece, a snapshot, replaces the file.
  private func beginJournal(of session: CloudSyncSession, process: DeviceProcess) {
    let isBegun = Locked(false)
    session.journal { [weak self, weak session] bytes in
      guard process.isAlive, let self else { return }
      let isFirst = isBegun.withLock { isBegun in
        defer { isBegun = true }
        return !isBegun
      }
      write(bytes, isFirst: isFirst)
      guard hasLongJournal, let session else { return }
      memory.withLock { $0.isCompacting = true }
      // Later, because the session is in the middle of its work.
      process.executor.run { [weak self, weak session] in
        guard process.isAlive, let self, let session else { return }
        beginJournal(of: session, process: process)
        memory.withLock { $0.isCompacting = false }
      }
    }
  }

  /// Whether the journal has become so long that it is to be begun anew.
  private var hasLongJournal: Bool {
    let isCompacting = memory.withLock { $0.isCompacting }
    return !isCompacting && disk.withLock { $0.journal.count > 4 * $0.firstPiece + 20_000 }
  }

  private func write(_ bytes: Data, isFirst: Bool) {
    disk.withLock { disk in
      if isFirst {
        disk.journal.removeAll(keepingCapacity: true)
        disk.firstPiece = bytes.count
      }
      disk.lastPiece = disk.journal.count
      disk.journal.append(bytes)
    }
  }

  /// Submits what is stored and the session does not know.
  private func becomeReady() {
    guard let session else { return }
    // A user who had called everything off before the app ended has not got it back yet.
    if disk.withLock({ $0.isCallingOff }) {
      callOff()
    } else {
      let lost = unsent(besides: Set(memory.withLock { $0.known.keys }))
      memory.withLock { $0.isReady = true }
      for edit in lost { submit(edits: [edit]) }
    }
    session.fetch()
  }

  // MARK: What the session announces

  private func listen(to session: CloudSyncSession, process: DeviceProcess) {
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      guard process.isAlive, let self else { return }
      let handsBack = process.configuration.refusedItems == .handBack
      completed(operation: operation, response: response, handsBack: handsBack)
      ended(operation: operation)
    }
    session.workFailedSubject.sink { [weak self] work, error in
      guard process.isAlive, let self, case .modify(let operation) = work else { return }
      let handsBack = process.configuration.refusedItems == .handBack
      calledOff(operation: operation, error: error, handsBack: handsBack)
      ended(operation: operation)
    }
    session.fetchWorkCompletedSubject.sink { [weak self, weak session] _, page in
      guard process.isAlive else { return }
      self?.disk.withLock { $0.store(page: page) }
      if process.configuration.acknowledgesPages { session?.acknowledge(page.page, .stored) }
    }
    session.parkedSubject.sink { [weak self] change in
      if process.isAlive { self?.parkedChanged(change: change) }
    }
    session.zoneSubject.sink { [weak session] zone in
      // A new zone has other contents than the old one.
      if process.isAlive, case .ready = zone { session?.fetch() }
    }
  }

  /// Takes the end of an operation.
  private func completed(
    operation: ModifyOperation,
    response: ModifyOperation.Response,
    handsBack: Bool
  ) {
    let (mine, left) = numbers(of: operation)
    disk.withLock { disk in
      // The edits of an operation are of different records.
      guard !mine.isEmpty else { return }
      for record in response.savedRecords + response.alreadyInCloud {
        disk.notes[record.recordID.name, default: Note()].settle(mine: mine, record: record)
      }
      for recordID in response.deletedRecordIDs {
        disk.notes[recordID.name, default: Note()].settle(mine: mine, record: nil)
        disk.forgetIfEmpty(name: recordID.name)
      }
      for failure in response.failures {
        disk.notes[failure.recordID.name]?.setAside(mine: left, handsBack: handsBack)
      }
    }
  }

  /// The edits of an operation that has ended, and those of them that no later one has: an end may be told again after
  /// a restart.
  private func numbers(of operation: ModifyOperation) -> (all: Set<Int64>, left: Set<Int64>) {
    let all = Set(Self.numbers(of: operation))
    let known = memory.withLock { $0.known }
    return (all, all.filter { number in known[number].map { $0 <= operation.id } ?? true })
  }

  /// Takes that an operation was called off: what is not among its failures is in the cloud.
  private func calledOff(operation: ModifyOperation, error: SyncError, handsBack: Bool) {
    let (mine, left) = numbers(of: operation)
    let failed = Set(error.itemErrors.map(\.recordID))
    disk.withLock { disk in
      for failure in error.itemErrors {
        // What had been refused before may be parked.
        let isCalledOff = [.cancelled, .outcomeUnknown].contains(failure.error.code)
        let note = failure.recordID.name
        disk.notes[note]?.setAside(mine: left, handsBack: handsBack || isCalledOff)
      }
      for record in operation.records where !failed.contains(record.recordID) {
        disk.notes[record.recordID.name, default: Note()].settle(mine: mine, record: record)
      }
      for recordID in operation.recordIDsToDelete where !failed.contains(recordID) {
        disk.notes[recordID.name, default: Note()].settle(mine: mine, record: nil)
        disk.forgetIfEmpty(name: recordID.name)
      }
    }
  }

  /// Takes what became of a parked record.
  private func parkedChanged(change: ParkedChange) {
    disk.withLock { disk in
      let name = change.recordID.name
      switch change {
      case .saved(let record), .alreadyInCloud(let record):
        disk.notes[name, default: Note()].settleParked(record: record)
      case .deleted:
        disk.notes[name, default: Note()].settleParked(record: nil)
      case .refused, .dropped: break
      }
      disk.forgetIfEmpty(name: name)
    }
  }
}

extension NotesDevice.Disk {
  /// Takes what a page tells.
  fileprivate mutating func store(page: FetchOperation.Response) {
    guard page.page.number > lastPage else { return }
    lastPage = page.page.number
    let deleted = page.deletedRecordIDs.map(\.name)
    if page.isBeginning { seen = [] }
    if page.startedOver { seen = (seen ?? []).union(page.namedRecordIDs.map(\.name)) }
    for record in page.changedRecords { merge(record: record, of: record.recordID.name) }
    for name in deleted { merge(record: nil, of: name) }
    guard page.isLast, page.startedOver, let all = seen else { return }
    // After a fetch of everything, what was in no page is gone.
    for name in notes.keys.sorted() where !all.contains(name) { merge(record: nil, of: name) }
    seen = nil
  }
}

extension NotesDevice.Disk {
  /// Takes what the present page says about a record; nil for nothing.
  mutating func merge(record: Record?, of name: String) {
    if record == nil, notes[name] == nil { return }
    notes[name, default: NotesDevice.Note()].server = record
    notes[name]?.page = lastPage
    forgetIfEmpty(name: name)
  }

  mutating func forgetIfEmpty(name: String) {
    if notes[name]?.isEmpty ?? false { notes[name] = nil }
  }
}

extension NotesDevice.Note {
  /// The edits of an operation are in the cloud, and with them all earlier ones.
  mutating func settle(mine: Set<Int64>, record: Record?) {
    settle(place: pending.lastIndex { mine.contains($0.edit.number) }, record: record)
  }

  /// Parked edits are in the cloud.
  mutating func settleParked(record: Record?) {
    settle(place: pending.lastIndex { $0.isParked }, record: record)
  }

  private mutating func settle(place: Int?, record: Record?) {
    // Told again after a restart: it is stored.
    guard let place else { return }
    let last = pending[place]
    dropSuperseded()
    // What was handed back is in nobody's hands but the app's.
    pending.removeAll { $0.turn <= last.turn && !$0.isRefused }
    guard page <= last.page else { return }
    guard let record else { return server = nil }
    server = server?.applying(record).withChangeTag(record.changeTag) ?? record
  }

  /// The session has set edits aside, or handed them back.
  mutating func setAside(mine: Set<Int64>, handsBack: Bool) {
    for place in pending.indices where mine.contains(pending[place].edit.number) {
      pending[place].isParked = !handsBack
      pending[place].isRefused = handsBack
    }
  }
}
