import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  // MARK: Beginning anew

  /// Deletes all rows of the synchronized tables here, without deleting them in the cloud.
  ///
  /// Edits that the cloud has not got are lost. What is known of the cloud is forgotten, so an engine
  /// that runs fetches everything again, for whoever is signed in then. It is done wholly or not at
  /// all, whatever happens meanwhile.
  ///
  /// - Throws: That the database cannot be written, or that rows of a table that is not synchronized
  ///   forbid it; then nothing has changed.
  public func deleteLocalData() throws(SyncEngineError) {
    try renew(.deletion, keepsOwner: false)
  }

  /// Uploads all rows that the cloud does not have in their present form.
  ///
  /// For a cloud that has lost data. First everything is fetched and merged: then what the cloud
  /// has is not sent again, newer edits of others stay, and what it says was deleted goes. All else
  /// that it does not have is made anew there. An engine that does not run does it after its next
  /// start.
  ///
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func uploadEverything() throws(SyncEngineError) {
    try renew(.upload, keepsOwner: true)
  }

  /// Makes the rows what the cloud has, by fetching everything; returns at once.
  ///
  /// Edits that the cloud has not got stay, and are sent. Rows without such edits get the cloud's
  /// values, and those that it does not have are deleted when the last page has come, not before. It
  /// goes on after a crash. An engine that does not run does it after its next start.
  ///
  /// - Throws: That the database cannot be written.
  public func rebuild() throws(SyncEngineError) {
    try transaction { (transaction) throws(SQLiteError) in
      try transaction.facts.set(.fetchAll, .integer(FullFetch.rebuilds.rawValue))
    }
    guard let (session, generation) = running else { return }
    fetch(FetchOperation(startingOver: true), session, generation)
  }

  /// Changes the rows in one transaction together with what the next session knows, and goes on if the
  /// engine was running.
  func renew(
    _ renewal: Renewal,
    keepsOwner: Bool,
    owner: AccountIdentity? = nil
  ) throws(SyncEngineError) {
    let (old, generation) = state.withLock { state -> (CloudSyncSession?, Int) in
      defer { state.leave() }
      return (state.session, state.generation + 1)
    }
    old?.stop()
    var failure: SyncEngineError?
    do throws(SyncEngineError) {
      let past = if let old { old.state.essence } else { try storedEssence() }
      let fresh = past.map { $0.renewed(owner: keepsOwner ? $0.accountOwner : owner) }
      try transaction(generation) { (transaction) throws(SQLiteError) in
        try RowReset(transaction: transaction).renew(renewal)
        try transaction.facts.set(.essence, fresh.map { .blob([UInt8]($0.data)) })
      }
    } catch { failure = error }
    // Somebody else may have begun anew, or stopped, meanwhile.
    if state.withLock({ $0.isWanted && $0.generation == generation }) {
      do throws(SyncEngineError) { try begin() } catch { failure = failure ?? error }
    }
    report()
    if let failure { throw failure }
  }
}

extension SyncEngine.State {
  /// Lets go of the session: what it still says is not heard.
  mutating func leave() {
    session = nil
    generation += 1
    inFlight = [:]
    fetches = 0
    isFeedDue = false
    isFetchDue = false
    absencesBefore = (nil, nil)
    nextFetch = nil
    lastPage = nil
    isZoneRecordRefused = false
    backlog = []
    group = CloudGroup()
    isPageDue = false
    comparedTo = nil
    halt = nil
    lastError = nil
    essence = nil
    lastEssence = nil
    retries = 0
  }
}
