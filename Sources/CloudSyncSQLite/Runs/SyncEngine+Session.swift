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
  func storedEssence() throws(SyncEngineError) -> SyncEssence? {
    try Self.storedEssence(in: database)
  }

  /// What the last session has left in a database, which an engine may never have seen.
  static func storedEssence(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> SyncEssence? {
    let value = try database.use { (connection) throws(SyncEngineError) in
      guard try OutboxSchema.installedVersion(connection) == OutboxSchema.version else {
        return nil as SQLiteValue?
      }
      return try sqlite { () throws(SQLiteError) in
        try Facts(connection: connection).value(.essence)
      }
    }
    guard case .blob(let bytes)? = value else { return nil }
    do throws(CodedError) { return try SyncEssence(Data(bytes)) } catch {
      throw SyncEngineError(
        .damaged,
        "what the session has learnt cannot be read (\(error)); delete 'essence' from"
          + " cloudsync_facts to begin anew: no edit is lost by it"
      )
    }
  }

  func makeSession(_ essence: SyncEssence?) -> CloudSyncSession {
    var configuration = options.configuration
    configuration.acknowledgesPages = true
    // The engine keeps what is pending by itself.
    configuration.refusedItems = .handBack
    // Why the cloud has no record, only the feed tells.
    configuration.missingRecordPolicy = .park
    configuration.zonePolicy.missing = .ask
    configuration.zonePolicy.purged = .ask
    configuration.zonePolicy.encryptedDataReset = .ask
    let later = ConflictResolver { _ in .later }
    let session =
      essence.map { essence in
        CloudSyncSession(
          restoring: essence,
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
    session.statePublisher.sink { [weak self] state in
      self?.note(state.essence, generation)
      self?.note(state.lastRetryError, generation)
    }
    session.haltedSubject.sink { [weak self] error in self?.note(halt: error, generation) }
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          engine.complete(Int64(operation.id.number), response, generation)
        }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] operation, page in
      let isLookup = !operation.recordIDs.isEmpty
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          if isLookup {
            try engine.applyLookup(page, generation)
          } else {
            engine.apply(page, generation)
          }
        }
    }
    session.workFailedSubject.sink { [weak self] work, _ in
      guard case .modify(let operation) = work else { return }
      self?
        .take(generation) { (engine) throws(SyncEngineError) in
          // Its rows are dirty, and are sent again; what became of records that were to go, the feed tells.
          let batch = engine.state.withLock { state in
            let batch = state.inFlight.removeValue(forKey: Int64(operation.id.number))
            if batch?.found.isEmpty == false { state.comparedTo = nil }
            return batch
          }
          if batch?.removals.isEmpty == false { engine.fetchChanges() }
          engine.sendChanges()
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

  /// Publishes an error of the cloud's that is new.
  private func note(_ error: SyncError?, _ generation: Int) {
    let isNew = state.withLock { state in
      guard state.generation == generation,
        state.lastError.map({ "\($0)" }) != error.map({ "\($0)" })
      else { return false }
      state.lastError = error
      return error != nil
    }
    if isNew, let error { cloudErrors.send(error) }
  }

  /// Takes that the session has halted over an error, or works again.
  private func note(halt error: SyncError?, _ generation: Int) {
    guard isCurrent(generation) else { return }
    let halt = error.flatMap { $0.code == .stopped ? nil : $0 }
    state.withLock { $0.halt = halt }
    if let halt { cloudErrors.send(halt) }
    report()
  }

  /// Notes what the session has learnt: it is stored before anything that follows from it.
  private func note(_ essence: SyncEssence, _ generation: Int) {
    let bytes = [UInt8](essence.data)
    let isNew = state.withLock { state in
      guard state.generation == generation, state.lastEssence != bytes else { return false }
      state.lastEssence = bytes
      state.essence = bytes
      return true
    }
    guard isNew else { return }
    take(generation) { (engine) throws(SyncEngineError) in
      try engine.transaction(generation) { (_) throws(SQLiteError) in }
    }
  }
}
