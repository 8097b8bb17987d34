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
    try control.renew(.deletion, keepsOwner: false)
  }

  /// Fetches everything again and merges it with what is here; returns at once.
  ///
  /// For a database in which rows are missing, while the cloud is right and the edits here are, too. Rows that are
  /// missing here though nobody has deleted them come back. Edits that the cloud has not got stay and are sent, and so
  /// does what was changed while nobody captured it. Nothing is deleted but what others have deleted; a row that the
  /// cloud neither has nor tells to be deleted is saved there again. It goes on after a crash. An engine that does not
  /// run does it after its next start.
  ///
  /// ``rebuild()`` is for a database that is wrong: it gives up what was changed unseen, and deletes rows that the
  /// cloud does not have. ``uploadEverything()`` is for a cloud that has lost data: rows that were deleted here unseen
  /// are deleted there as well.
  ///
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func resync() throws(SyncEngineError) { try fetchEverything(as: .restores) }

  /// Compares all rows with what is known of them, and sends what was edited while nobody captured it; returns at once.
  ///
  /// Edits escape the triggers where somebody has turned them off or has dropped them, such as a connection with
  /// `SQLITE_DBCONFIG_ENABLE_TRIGGER`, or a program that has written to the file by itself. Everything is fetched first:
  /// when such an edit was made is not known, so where another device has sent an edit of the same column meanwhile,
  /// that one stays. Do it before anything else is fetched: a row that gets an edit of others is written as it is known,
  /// without what nobody has captured. It goes on after a crash. An engine that does not run does it after its next start.
  ///
  /// A table that has lost its triggers, or was rebuilt, is compared at every start without this.
  ///
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func rescan() throws(SyncEngineError) {
    try control.transaction { (transaction) throws(SQLiteError) in
      try transaction.requestReconciliation()
    }
    control.run?.compareTables()
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
    try control.renew(.upload, keepsOwner: true)
  }

  /// Has all rows merged with those of another cloud, account or zone than they were synced with.
  ///
  /// As ``uploadEverything()``, for whoever is signed in; the engine must not run. Deletions that a former cloud had are
  /// not of the rows of another one.
  package func attach(to cloud: AttachedCloud) throws(SyncEngineError) {
    try control.renew(cloud.renewal, keepsOwner: false)
  }

  /// Makes the rows what the cloud has, by fetching everything; returns at once.
  ///
  /// Edits that the cloud has not got stay, and are sent. Rows without such edits get the cloud's
  /// values, and those that it does not have are deleted when the last page has come, not before. It
  /// goes on after a crash. An engine that does not run does it after its next start.
  ///
  /// - Throws: That the database cannot be written.
  public func rebuild() throws(SyncEngineError) { try fetchEverything(as: .rebuilds) }

  private func fetchEverything(as mode: FullFetch) throws(SyncEngineError) {
    try control.transaction { (transaction) throws(SQLiteError) in
      try transaction.facts.set(.fetchAll, to: .integer(mode.rawValue))
    }
    control.run?.fetch(FetchOperation(startingOver: true))
  }
}
