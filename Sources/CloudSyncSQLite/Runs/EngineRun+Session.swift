import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the session tells.
extension EngineRun {
  /// Has everything taken that the session tells from now on.
  func listen() {
    session.statePublisher.sink { [weak self] state in
      self?.note(state.essence)
      self?.note(state.lastRetryError)
      self?.noteWaits(of: state)
    }
    session.haltedSubject.sink { [weak self] error in self?.note(halt: error) }
    session.modifyWorkCompletedSubject.sink { [weak self] operation, response in
      self?
        .take { (run) throws(SyncEngineError) in
          run.complete(Int64(operation.id.number), with: response)
        }
    }
    session.fetchWorkCompletedSubject.sink { [weak self] operation, page in
      let isLookup = operation.isLookup
      self?
        .take { (run) throws(SyncEngineError) in
          if isLookup { try run.applyLookup(page, of: operation.id) } else { run.apply(page) }
        }
    }
    session.workFailedSubject.sink { [weak self] work, _ in
      switch work {
      case .modify(let operation):
        self?.take { (run) throws(SyncEngineError) in run.giveUp(Int64(operation.id.number)) }
      case .fetch(let operation): self?.state.withLock { $0.lookups[operation.id] = nil }
      case .createZone, .createSubscription: break
      }
    }
    session.zoneSubject.sink { [weak self] zone in
      self?
        .take { (run) throws(SyncEngineError) in
          switch zone {
          // A new zone has other contents than the old one.
          case .ready: run.fetchChanges()
          case .lost(let loss): try run.control.take(loss)
          case .unknown, .creating, .refused: break
          }
        }
    }
    session.accountStatusSubject.sink { [weak self] status in
      self?.take { (run) throws(SyncEngineError) in try run.control.take(status, in: run) }
    }
  }

  // MARK: Operations

  /// Takes what became of an operation.
  private func complete(_ number: Int64, with response: ModifyOperation.Response) {
    let batch = state.withLock { $0.inFlight[number] } ?? SentBatch()
    join(.answer(number, batch, response))
  }

  /// Takes that an operation was given up: its rows are dirty, and are sent again.
  private func giveUp(_ number: Int64) {
    let batch = state.withLock { state in
      let batch = state.inFlight.removeValue(forKey: number)
      if batch?.found.isEmpty == false { state.comparedTo = nil }
      return batch
    }
    // What became of records that were to go, the feed tells.
    if batch?.removals.isEmpty == false { fetchChanges() }
    sendChanges()
  }

  /// Takes a page: its rows and its token are stored together.
  private func apply(_ page: FetchOperation.Response) {
    let fetched = state.withLock { state -> FetchedPage? in
      // It completes another fetch of the same run.
      if state.lastPage == page.page { return nil }
      state.lastPage = page.page
      state.overtake(by: page)
      if !state.isPageDue { state.absencesBefore = (nil, state.absencesBefore.next) }
      return FetchedPage(response: page, absencesBefore: state.absencesBefore.present)
    }
    guard let fetched else { return }
    join(.page(fetched))
  }

  /// Stores records that were looked up, because no page could bring them.
  private func applyLookup(
    _ page: FetchOperation.Response,
    of id: OperationID
  ) throws(SyncEngineError) {
    if case .lost = session.state.zoneState { return try takeLostZone(page) }
    let lookups = state.withLock { state in
      state.overtake(by: page)
      return state.lookups[id] ?? []
    }
    let awaitsFetch = try transaction { (transaction) throws(SQLiteError) in
      try PageApplier(transaction: transaction).take(page, of: lookups)
      // What was missing is told about now, and waits for a fetch to end still.
      return try transaction.stored.pending.awaitingFetch().isEmpty == false
    }
    state.withLock { $0.lookups[id] = nil }
    session.acknowledge(page.page, .stored)
    if awaitsFetch { fetchChanges() }
    sendChanges()
  }

  /// Takes the answer to a look-up while the zone is lost: it is what another device has made of it, if its
  /// record is there, and else nothing.
  private func takeLostZone(_ page: FetchOperation.Response) throws(SyncEngineError) {
    if page.changedRecords.contains(where: { ZoneRecord($0) != nil }) {
      return try control.renew(.rejoining, keepsOwner: true)
    }
    session.acknowledge(page.page, .stored)
  }

  // MARK: The session's state

  /// Publishes an error of the cloud's that is new.
  private func note(_ error: SyncError?) {
    // Conflicts are merged, and tried again with what has come of that: nobody has to know.
    let error = error.flatMap { $0.isConflict ? nil : $0 }
    let isNew = state.withLock { state in
      guard state.lastError.map({ "\($0)" }) != error.map({ "\($0)" }) else { return false }
      state.lastError = error
      return error != nil
    }
    if isNew, isUnderWay, let error { context.publishers.cloudErrors.send(error) }
  }

  /// Takes that the session has halted over an error, or works again.
  private func note(halt error: SyncError?) {
    guard isUnderWay else { return }
    let halt = error.flatMap { $0.code == .stopped ? nil : $0 }
    let explanation = halt.map { _ in session.explain() }
    state.withLock { state in
      state.halt = halt
      if let explanation { state.waits.session = explanation }
    }
    if let halt { context.publishers.cloudErrors.send(halt) }
    control.report()
  }

  /// Notes what the session has learnt: it is stored before anything that follows from it.
  private func note(_ essence: SyncEssence) {
    let bytes = [UInt8](essence.data)
    let isNew = state.withLock { state in
      guard state.lastEssence != bytes else { return false }
      state.lastEssence = bytes
      state.essence = bytes
      return true
    }
    guard isNew else { return }
    take { (run) throws(SyncEngineError) in
      try run.transaction { (_) throws(SQLiteError) in }
    }
  }
}

extension EngineRun.State {
  /// Notes what of that which is in flight a page tells to be gone.
  fileprivate mutating func overtake(by page: FetchOperation.Response) {
    for number in inFlight.keys { inFlight[number]?.overtake(by: page) }
  }
}

extension SyncError {
  /// Whether it is nothing but records that others have changed.
  fileprivate var isConflict: Bool {
    switch code {
    case .serverRecordChanged, .awaitsAppEdit: true
    case .partialFailure:
      // Where a request is done wholly or not at all, the other records have failed with another code.
      itemErrors.contains { $0.error.isConflict }
        && itemErrors.allSatisfy { $0.error.isConflict || $0.error.code == .batchRequestFailed }
    default: false
    }
  }
}
