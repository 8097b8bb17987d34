import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SyncEngine {
  // MARK: The session

  /// What the last session has left.
  func storedArchive() throws(SyncEngineError) -> SyncArchive? {
    try Self.storedArchive(in: database)
  }

  /// What the last session has left in a database, which an engine may never have seen.
  static func storedArchive(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> SyncArchive? {
    let journal = try write(to: database) { (connection) throws(SyncEngineError) in
      guard try MetadataSchema.installedVersion(connection) != nil else { return nil as Data? }
      return try sqlite { () throws(SQLiteError) in try JournalStore(connection: connection).read()
      }
    }
    guard let journal else { return nil }
    do throws(CodedError) { return try SyncArchive(journal) } catch {
      throw SyncEngineError(
        .damaged,
        "the session's journal in cloudsync_journal cannot be read (\(error)); "
          + "empty that table to begin anew: no edit is lost by it"
      )
    }
  }

  func makeSession(_ archive: SyncArchive?) -> CloudSyncSession {
    var configuration = options.configuration
    configuration.acknowledgesPages = true
    // What is missing in the cloud was deleted there: the table's policy decides.
    configuration.missingRecordPolicy = .park
    let later = ConflictResolver { _ in .later }
    guard let archive else {
      return CloudSyncSession(
        operationHandler: handler,
        zoneID: zoneID,
        configuration: configuration,
        resolver: later,
        callbackExecutor: executor,
        gate: options.gate,
        environment: environment
      )
    }
    return CloudSyncSession(
      restoring: archive,
      operationHandler: handler,
      configuration: configuration,
      resolver: later,
      callbackExecutor: executor,
      gate: options.gate,
      environment: environment
    )
  }

  func listen(to session: CloudSyncSession, _ generation: Int) {
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      self?
        .hear(generation) { (engine) throws(SyncEngineError) in
          try engine.complete(operation, response)
        }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] _, page in
      self?.hear(generation) { (engine) throws(SyncEngineError) in try engine.apply(page) }
    }
    session.parkedSubject.sink { [weak self] change in
      self?.hear(generation) { (engine) throws(SyncEngineError) in try engine.take(change) }
    }
    session.workFailedSubject.sink { [weak self] work, error in
      self?
        .hear(generation) { (engine) throws(SyncEngineError) in
          if case .modify(let operation) = work { try engine.giveUp(operation, error) }
        }
    }
    session.zoneSubject.sink { [weak self] zone in
      // A new zone has other contents than the old one.
      self?.hear(generation) { engine in if case .ready = zone { engine.fetchChanges() } }
    }
  }

  /// Takes what the session of a run says; an error ends the run.
  private func hear(
    _ generation: Int,
    _ body: (SyncEngine) throws(SyncEngineError) -> Void
  ) {
    guard state.withLock({ $0.generation == generation && $0.session != nil }) else { return }
    do throws(SyncEngineError) { try body(self) } catch {
      errors.send(error)
      stop()
    }
    report()
  }

  // MARK: The journal

  /// Has the session write its journal into the database, from a snapshot on.
  func beginJournal(of session: CloudSyncSession, _ generation: Int) {
    let written = Locked((pieces: 0, first: 0, total: 0))
    session.journal { [weak self, weak session] bytes in
      guard let self, state.withLock({ $0.generation == generation }) else { return }
      let isFirst = written.withLock { $0.pieces == 0 }
      do throws(SyncEngineError) {
        try Self.write(to: database) { (connection) throws(SyncEngineError) in
          try sqlite { () throws(SQLiteError) in
            try JournalStore(connection: connection).write(bytes, isFirst: isFirst)
          }
        }
      } catch {
        errors.send(error)
        return stop()
      }
      let isLong = written.withLock { written in
        if isFirst { written.first = bytes.count }
        written.pieces += 1
        written.total += bytes.count
        // Once only: what follows is written by the next journal.
        guard written.total > 4 * written.first + 1_000_000 else { return false }
        written.total = .min / 2
        return true
      }
      guard isLong, let session else { return }
      executor.run { [weak self] in self?.beginJournal(of: session, generation) }
    }
  }

  // MARK: Sending

  /// Submits edits until two requests' worth of them is on its way.
  func feed(_ generation: Int) throws(SyncEngineError) {
    guard let (session, present) = running, present == generation else { return }
    let limits = handler.limits
    while true {
      let read = try readOutbox()
      try countPending(read)
      guard state.withLock({ $0.recordsInFlight }) < 2 * limits.items else { return }
      let batch = try transaction { (work) throws(SQLiteError) in
        try work.settleDepartures()
        return try work.makeBatch(limits)
      }
      guard let batch else { return }
      try submit(batch, to: session)
    }
  }

  /// Reads the outbox; returns how many edits there were.
  private func readOutbox() throws(SyncEngineError) -> Int {
    var (count, total) = (OutboxReader.batchSize, 0)
    while count == OutboxReader.batchSize {
      count = try transaction { (work) throws(SQLiteError) in
        let count = try work.outbox.readBatch()
        if count > 0 { try work.retryShelved() }
        return count
      }
      total += count
    }
    return total
  }

  /// Counts what is to be sent: exactly while that is quick, else from the last count on.
  private func countPending(_ read: Int) throws(SyncEngineError) {
    let known = state.withLock { state in
      state.counts.pending += read
      return state.counts.pending
    }
    guard known < 5_000 else { return }
    let count = try transaction { (work) throws(SQLiteError) in try work.store.pendingCount() }
    state.withLock { $0.counts.pending = count }
  }

  private func submit(_ batch: SendBatch, to session: CloudSyncSession) throws(SyncEngineError) {
    let id: OperationID
    do throws(RecordRuleViolation) { id = try session.modify(batch.operation) } catch {
      throw SyncEngineError(.statement, "a record cannot be sent: \(error)")
    }
    let number = Int64(id.number)
    state.withLock { state in
      state.inFlight[number] = batch.operation.itemCount
      state.sent[number] = batch
    }
    try transaction { (work) throws(SQLiteError) in try work.markSent(batch, number) }
    state.withLock { $0.counts.pending = max(0, $0.counts.pending - batch.rows.count) }
  }

  // MARK: What the session announces

  private func complete(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response
  ) throws(SyncEngineError) {
    let number = Int64(operation.id.number)
    let batch = state.withLock { $0.sent.removeValue(forKey: number) }
    let done = try transaction { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      let done = try work.complete(operation, response, batch)
      try work.retryShelved()
      try work.settleUniqueKeys()
      return (records: done, isFetchDue: try work.hasDeletionsPutOff())
    }
    state.withLock { _ = $0.inFlight.removeValue(forKey: number) }
    if !done.records.isEmpty { session?.dropParked(done.records) }
    // What the cloud has deleted goes when everything that has happened there is known.
    if done.isFetchDue, state.withLock({ $0.fetches == 0 }) { fetchChanges() }
    sendChanges()
  }

  private func giveUp(
    _ operation: ModifyOperation,
    _ error: SyncError
  ) throws(SyncEngineError) {
    let number = Int64(operation.id.number)
    try transaction { (work) throws(SQLiteError) in try work.release(number) }
    state.withLock { state in
      state.inFlight[number] = nil
      state.sent[number] = nil
    }
  }

  private func take(_ change: ParkedChange) throws(SyncEngineError) {
    let isDone = try transaction { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      let isDone = try work.take(change)
      try work.retryShelved()
      return (isDone, isFetchDue: try work.hasDeletionsPutOff())
    }
    if isDone.0 { session?.dropParked([change.recordID]) }
    if isDone.isFetchDue, state.withLock({ $0.fetches == 0 }) { fetchChanges() }
    sendChanges()
  }

  private func apply(_ page: FetchOperation.Response) throws(SyncEngineError) {
    try transaction { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      try work.apply(page)
    }
    session?.acknowledge(page.page, .stored)
    sendChanges()
  }
}
