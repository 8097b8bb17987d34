import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// Runs updates and commits all that was changed since HEAD with them, in one transaction.
  ///
  /// If the updates throw, or the commit fails, none of it happens. Without a change there is no commit.
  ///
  /// - Parameters:
  ///   - meta: What is said of the commit, at most 65,536 bytes; JSON by custom.
  ///   - updates: Edits rows, with the connection's handle.
  /// - Returns: What the updates return.
  /// - Throws: What the updates throw, or a ``ChangesetError``.
  @discardableResult
  public func commit<Value: Sendable>(
    meta: String = "{}",
    _ updates: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    let (value, head) = try database.useAnyError { connection in
      try Self.refuseTransaction(connection: connection)
      return try connection.sqlite.transaction(
        { () throws(any Error) in
          let value = try updates(connection.sqlite.handle)
          guard connection.sqlite.isInTransaction else {
            throw ChangesetError(
              .misuse,
              "updates must leave the transaction open that they are in"
            )
          }
          let work = try self.work(on: connection)
          let row = try Committing(work: work).commit(meta: meta)
          return (value, row == nil ? nil : try work.head())
        },
        mapping: { ChangesetError($0) as any Error }
      )
    }
    if let head { headSubject.send(head) }
    return value
  }

  /// Commits what was changed since HEAD, by whomever.
  ///
  /// - Parameter meta: What is said of the commit, at most 65,536 bytes; JSON by custom.
  /// - Returns: The commit; nil if nothing was changed.
  /// - Throws: That an older commit is checked out, or what is wrong with the database.
  @discardableResult
  public func commit(meta: String = "{}") throws(ChangesetError) -> Changeset? {
    try write { (work) throws(ChangesetError) in
      guard let row = try Committing(work: work).commit(meta: meta) else { return nil }
      return try work.changeset(row: row)
    }
  }

  /// Gives rows that were changed since HEAD the values back that they had.
  ///
  /// - Throws: What is wrong with the database.
  public func discard() throws(ChangesetError) {
    try move { (work) throws(ChangesetError) in
      let changes = try work.uncommitted.changes(at: .zero)
      try work.uncommitted.clear()
      try work.parking.apply(delta: changes.inverted(at: .zero))
    }
  }

  /// Looks for rows that were written past the triggers, and makes uncommitted changes of them.
  ///
  /// All rows are compared with what the history says of HEAD.
  ///
  /// - Throws: What is wrong with the database.
  public func rescan() throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in try Rescan(work: work).run() }
  }

  /// Where the rows are in the history.
  ///
  /// - Throws: What is wrong with the database.
  public func head() throws(ChangesetError) -> Head {
    try read { (work) throws(ChangesetError) in try work.head() }
  }

  /// What was changed since HEAD, by table and key.
  ///
  /// - Throws: What is wrong with the database.
  public func changes() throws(ChangesetError) -> [RowChange] {
    try read { (work) throws(ChangesetError) in
      try work.uncommitted.changes(at: .zero).rowChanges
    }
  }

  /// How the database and its history are.
  ///
  /// - Throws: What is wrong with the database.
  public func status() throws(ChangesetError) -> ChangesetStatus {
    try read { (work) throws(ChangesetError) in try HistoryStatus(work: work).status() }
  }

  /// Whether there is nothing to commit; unlike the whole status it reads nothing of what others have sent.
  func isClean() throws(ChangesetError) -> Bool {
    try read { (work) throws(ChangesetError) in try work.uncommittedCount() == 0 }
  }

  /// Removes the changes of old commits from this copy; the log keeps them, with who made them and their meta.
  ///
  /// All from the latest possible commit on stays whole: its states, merges and comparisons. What is
  /// before it cannot be checked out, compared or taken back here any more, with
  /// ``ChangesetError/Code/historyTooShort``, until ``ChangesetRemote/resetLastChangeToken()`` and a fetch
  /// bring it back. Merges that have lost values which nobody has put back keep them.
  ///
  /// The database has free pages then, which SQLite uses for what comes; `VACUUM` makes its file smaller.
  ///
  /// - Parameters:
  ///   - depth: How many commits before HEAD stay whole at least.
  ///   - includingUnsent: Whether also changes go that no cloud has. They cannot be got back, and the
  ///     history cannot be sent to any cloud after it.
  /// - Returns: What was removed.
  /// - Throws: That commits of this copy are behind a squash, and need what they go on from, or what is wrong with the
  ///   database.
  @discardableResult
  public func gc(
    depth: Int = 1_000,
    includingUnsent: Bool = false
  ) throws(ChangesetError) -> ShortenedHistory {
    try write { (work) throws(ChangesetError) in
      try Shortening(work: work).run(depth: depth, includingUnsent: includingUnsent)
    }
  }

  /// Forgets all commits; rows stay as they are, and are in the next commits.
  ///
  /// - Throws: What is wrong with the database.
  public func reset() throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in try HistoryReset(work: work).reset() }
  }

  /// Takes every trace of the history out of the database; rows stay as they are.
  ///
  /// The repository is of no use afterwards.
  ///
  /// - Throws: What is wrong with the database.
  public func remove() throws(ChangesetError) { try Self.remove(from: database) }

  /// Takes every trace of a history out of a database; rows stay as they are.
  ///
  /// The history need not be one that can be opened: its tables may have been changed without it.
  ///
  /// - Parameter database: The database.
  /// - Returns: How many commits there were.
  /// - Throws: What is wrong with the database.
  @discardableResult
  public static func remove(from database: some SyncDatabase) throws(ChangesetError) -> Int {
    try database.use { (connection) throws(ChangesetError) in
      try refuseTransaction(connection: connection)
      return try connection.transaction { () throws(ChangesetError) in
        let count = try connection.integer("SELECT count(*) FROM changesets_log") ?? 0
        try HistoryTables.remove(connection: connection)
        return Int(count)
      }
    }
  }
}
