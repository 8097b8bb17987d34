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
    let archive = try Self.storedArchive(in: database)
    guard let archive, options.accountProvider == nil, archive.state.account.hasProvider else {
      return archive
    }
    let state = archive.state.withoutAccountProvider
    do throws(CodedError) { return try SyncArchive(SyncArchive.frame(of: state)) } catch {
      throw SyncEngineError(.damaged, "the session's state cannot be written: \(error)")
    }
  }

  /// What the last session has left in a database, which an engine may never have seen.
  static func storedArchive(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> SyncArchive? {
    let journal = try write(to: database) { (connection) throws(SyncEngineError) in
      try MetadataAttachment.attachKnown(to: connection)
      guard try MetadataSchema.installedVersion(connection) != nil else { return nil as Data? }
      return try sqlite { () throws(SQLiteError) in try JournalStore(connection: connection).read()
      }
    }
    guard let journal else { return nil }
    do throws(CodedError) {
      return try SyncArchive(journal)
    } catch {
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
    // What the session has queued is not whole: the engine sends the rows anew.
    configuration.zonePolicy.missing = .ask
    configuration.zonePolicy.purged = .ask
    configuration.zonePolicy.encryptedDataReset = .ask
    let later = ConflictResolver { _ in .later }
    let session =
      archive.map { archive in
        CloudSyncSession(
          restoring: archive,
          operationHandler: handler,
          configuration: configuration,
          resolver: later,
          callbackExecutor: executor,
          gate: options.gate,
          environment: environment
        )
      }
      ?? CloudSyncSession(
        operationHandler: handler,
        zoneID: zoneID,
        configuration: configuration,
        resolver: later,
        callbackExecutor: executor,
        gate: options.gate,
        environment: environment
      )
    if let provider = options.accountProvider {
      session.appendMiddleware(AccountStatusMiddleware(provider: provider))
    }
    return session
  }

  func listen(to session: CloudSyncSession, _ generation: Int) {
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          try engine.complete(operation, response, generation)
        }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] _, page in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          try engine.apply(page, generation)
        }
    }
    session.parkedSubject.sink { [weak self] change in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          try engine.take(change, generation)
        }
    }
    session.workFailedSubject.sink { [weak self] work, error in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          if case .modify(let operation) = work { try engine.giveUp(operation, generation) }
        }
    }
    session.zoneSubject.sink { [weak self] zone in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          switch zone {
          // A new zone has other contents than the old one.
          case .ready: engine.fetchChanges()
          case .lost(let loss): try engine.take(loss)
          case .unknown, .creating, .refused: break
          }
        }
    }
    session.accountStatusSubject.sink { [weak self] status in
      self?.take(generation) { (engine) throws(SyncEngineError) in try engine.take(status) }
    }
  }

  // MARK: The journal

  /// Has the session write its journal into the database, from a snapshot on.
  func beginJournal(of session: CloudSyncSession, _ generation: Int) {
    let written = Locked((pieces: 0, first: 0, total: 0))
    session.journal { [weak self, weak session] bytes in
      guard let self, isCurrent(generation) else { return }
      let isFirst = written.withLock { $0.pieces == 0 }
      journal(JournalPiece(bytes: bytes, isFirst: isFirst), generation)
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
    let gone = state.withLock { state in
      defer { state.gone = [] }
      return state.gone
    }
    // Sent again, they would bring back what was deleted.
    if !gone.isEmpty { session.dropParked(gone) }
    let limits = handler.limits
    while true {
      try countPending(try readOutbox(generation))
      guard state.withLock({ $0.recordsInFlight < 2 * limits.items && $0.backlog.isEmpty }) else {
        return
      }
      let known = session.state
      let returning = Set(known.returningRecords.map(\.recordID))
      let batch = try transaction(generation) { (work) throws(SQLiteError) in
        try work.settleDepartures()
        return try work.makeBatch(limits) { known.isParked(recordID: $0) || returning.contains($0) }
      }
      if let batch {
        try submit(batch.operation, to: session, generation, batch) {
          (work, number) throws(SQLiteError) in try work.markSent(batch, number)
        }
        continue
      }
      let strangers = try transaction(generation) { (work) throws(SQLiteError) in
        try work.makeStrangerBatch(limits)
      }
      guard let strangers else { return }
      try submit(strangers, to: session, generation) { (work, number) throws(SQLiteError) in
        try work.markSent(strangers, as: number)
      }
    }
  }

  /// Reads the outbox; returns how many edits there were.
  private func readOutbox(_ generation: Int) throws(SyncEngineError) -> Int {
    var (count, total) = (OutboxReader.batchSize, 0)
    while count == OutboxReader.batchSize {
      count = try transaction(generation) { (work) throws(SQLiteError) in
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

  private func submit(
    _ operation: ModifyOperation,
    to session: CloudSyncSession,
    _ generation: Int,
    _ batch: SendBatch? = nil,
    _ mark: @escaping @Sendable (EngineWork, Int64) throws(SQLiteError) -> Void
  ) throws(SyncEngineError) {
    let id: OperationID
    do throws(RecordRuleViolation) { id = try session.modify(operation) } catch {
      throw SyncEngineError(.statement, "a record cannot be sent: \(error)")
    }
    let number = Int64(id.number)
    state.withLock { state in
      state.inFlight[number] = operation.itemCount
      state.sent[number] = batch
    }
    // By itself: it must not be submitted again because this has to wait.
    take(generation) { (engine) throws(SyncEngineError) in
      try engine.transaction(generation) { (work) throws(SQLiteError) in try mark(work, number) }
    }
    state.withLock { $0.counts.pending = max(0, $0.counts.pending - operation.itemCount) }
  }

  // MARK: What the session announces

  private func complete(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response,
    _ generation: Int
  ) throws(SyncEngineError) {
    let number = Int64(operation.id.number)
    let batch = state.withLock { $0.sent[number] }
    let (done, isFetchDue) = try transaction(generation) { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      let done = try work.complete(operation, response, batch)
      try work.retryShelved()
      try work.settleUniqueKeys()
      return (done, try work.hasDeletionsPutOff())
    }
    state.withLock { state in
      state.inFlight[number] = nil
      state.sent[number] = nil
      if response.hasSaves { state.zoneLosses = 0 }
    }
    let isMissing = response.failures.contains { $0.error.code == .unknownItem }
    goOn(dropping: done, isFetchDue: isFetchDue || isMissing)
  }

  /// Has the session forget parked records that are settled, and does what is to be done next.
  ///
  /// Why the cloud does not have a record, a page tells; and what it has deleted goes when everything
  /// that has happened there is known.
  private func goOn(dropping done: [RecordID], isFetchDue: Bool) {
    if !done.isEmpty { session?.dropParked(done) }
    if isFetchDue, state.withLock({ $0.fetches == 0 }) { fetchChanges() }
    sendChanges()
  }

  private func giveUp(
    _ operation: ModifyOperation,
    _ generation: Int
  ) throws(SyncEngineError) {
    let number = Int64(operation.id.number)
    try transaction(generation) { (work) throws(SQLiteError) in try work.giveUp(number) }
    state.withLock { state in
      state.inFlight[number] = nil
      state.sent[number] = nil
    }
  }

  private func take(_ change: ParkedChange, _ generation: Int) throws(SyncEngineError) {
    let (isDone, isFetchDue) = try transaction(generation) { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      let isDone = try work.take(change)
      try work.retryShelved()
      return (isDone, try work.hasDeletionsPutOff())
    }
    var isMissing = false
    if case .refused(_, let error) = change { isMissing = error.code == .unknownItem }
    goOn(dropping: isDone ? [change.recordID] : [], isFetchDue: isFetchDue || isMissing)
  }

  private func apply(
    _ page: FetchOperation.Response,
    _ generation: Int
  ) throws(SyncEngineError) {
    try transaction(generation) { (work) throws(SQLiteError) in
      try work.outbox.readAll()
      try work.apply(page)
    }
    state.withLock { $0.zoneLosses = 0 }
    session?.acknowledge(page.page, .stored)
    sendChanges()
  }
}
