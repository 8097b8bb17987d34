public import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// Commits, children before parents, the later first.
  ///
  /// - Parameter query: Which commits.
  /// - Returns: The commits.
  /// - Throws: That there is no such revision or table, or what is wrong with the database.
  public func log(_ query: LogQuery = LogQuery()) throws(ChangesetError) -> [Changeset] {
    try read { (work) throws(ChangesetError) in try HistoryWalk(work: work).log(query: query) }
  }

  /// What is different between two commits, by table and key.
  ///
  /// - Parameters:
  ///   - from: The commit before.
  ///   - to: The commit after.
  /// - Returns: The changes that lead from the one to the other.
  /// - Throws: That there is no such revision, ``ChangesetError/Code/historyTooShort`` where changes are needed that were
  ///   removed, or what is wrong with the database.
  public func diff(_ from: Revision, _ to: Revision) throws(ChangesetError) -> [RowChange] {
    try read { (work) throws(ChangesetError) in
      let search = RevisionSearch(work: work)
      return try work.log
        .changes(from: try search.number(revision: from), to: try search.number(revision: to))
        .rowChanges
    }
  }

  /// The commit that a revision names, with its changes against its first parent.
  ///
  /// - Parameter revision: The commit.
  /// - Returns: What the commit says, and its changes by table and key.
  /// - Throws: That there is no such revision, ``ChangesetError/Code/historyTooShort`` where its changes were removed, or what
  ///   is wrong with the database.
  public func show(
    _ revision: Revision
  ) throws(ChangesetError) -> (changeset: Changeset, changes: [RowChange]) {
    try read { (work) throws(ChangesetError) in
      let row = try RevisionSearch(work: work).row(revision)
      let parent = try work.log.parentsByBranch(of: row).first
      let changes =
        if parent == row.parent { try work.log.commit(row).changes } else {
          try work.log.changes(from: parent, to: row.seq)
        }
      return (try work.changeset(row: row), changes.rowChanges)
    }
  }

  /// Which commit wrote each column of a row.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The values of the row's primary key.
  ///   - revision: The commit whose row is meant.
  /// - Returns: The columns of the row, by name, but for those that never held anything; none if there is no such row.
  /// - Throws: That there is no such revision, or what is wrong with the database.
  public func blame(
    _ table: String,
    _ key: [FieldValue],
    at revision: Revision = .head
  ) throws(ChangesetError) -> [CellOrigin] {
    try read { (work) throws(ChangesetError) in
      try Blame(work: work).origins(name: table, RowKey(try key.columns()), at: revision)
    }
  }

  /// Compares the whole history, and the rows, with what commits say of them.
  ///
  /// - Returns: What was compared, and what is not as it should be.
  /// - Throws: What is wrong with the database.
  public func verify() throws(ChangesetError) -> VerifyReport {
    try read { (work) throws(ChangesetError) in try Verification(work: work).report() }
  }

  /// The changes from a commit's parent to it, in the format of SQLite's session extension.
  ///
  /// - Parameters:
  ///   - id: The commit.
  ///   - parent: One of its parents, or any other commit; nil for the empty database.
  /// - Returns: What `sqlite3changeset_apply` applies to the parent's rows.
  /// - Throws: That there is no such commit, or what is wrong with the database.
  public func data(
    of id: ChangesetID,
    from parent: ChangesetID?
  ) throws(ChangesetError) -> [UInt8] {
    try read { (work) throws(ChangesetError) in
      let changes = try HistoryGraph(work).changes(from: parent, to: id)
      return try SessionFormat(tables: work.tables).bytes(of: changes)
    }
  }
}
