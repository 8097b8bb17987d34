public import CloudSyncCore
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// Merges the heads of a branch until one is left; ``pull()`` then takes the rows there.
  ///
  /// The same heads give the same merges on every replica. Heads stay about which a handler has said
  /// ``Resolution/later``, and those whose schema this app does not have; heads of older schemas are migrated first
  /// where ``ChangesetOptions/migrate`` can do it, or the SQL that ``migrate(_:sql:options:)`` has kept.
  ///
  /// - Parameter branch: The branch; nil for the present one.
  /// - Returns: The merges.
  /// - Throws: That there is no such branch, or what is wrong with the database.
  @discardableResult
  public func mergeAll(_ branch: String? = nil) throws(ChangesetError) -> [Changeset] {
    try HeadMigration(repository: self).run(branch: branch)
    return try move { (work) throws(ChangesetError) in
      var number = try work.heads.position().branch
      if let branch { number = try Branches(work: work).number(name: branch) }
      var merges: [Changeset] = []
      for row in try Merging(work).mergeAll(branch: number) {
        merges.append(try work.changeset(row: row))
      }
      return merges
    }
  }

  /// Merges another branch into the present one; ``pull()`` then takes the rows there.
  ///
  /// - Parameter branch: The other branch; a head of an older schema is migrated first, as ``mergeAll(_:)`` does.
  /// - Returns: The merge; the present branch's head if it has everything of the other already.
  /// - Throws: That there is no such branch, that one of both has several heads, or, with
  ///   ``ChangesetError/Code/needsUpgrade``, that one has tables or columns which this app lacks.
  @discardableResult
  public func merge(_ branch: String) throws(ChangesetError) -> Changeset {
    try HeadMigration(repository: self).run(branch: branch)
    return try move { (work) throws(ChangesetError) in
      let branches = Branches(work: work)
      let ours = try branches.head(
        of: try work.dictionaries.name(number: try work.heads.position().branch)
      )
      let theirs = try branches.head(of: branch)
      guard let mine = ours.seq, let other = theirs.seq else {
        throw ChangesetError(.noSuchRevision, "a branch without commits cannot be merged")
      }
      let head = try work.log.row(mine)
      if try work.log.isAncestor(ancestor: other, of: mine) { return try work.changeset(row: head) }
      let row = try Merging(work)
        .merge(theirs: try work.log.row(other), into: head, branch: ours.branch)
      return try work.changeset(row: row)
    }
  }

  /// Rows about which merges wait for an answer, then those of which merges have lost something on the way to the
  /// present branch's heads.
  ///
  /// What holds its lost values again, whoever has written them, is none of them any more; undoing that brings it back.
  ///
  /// - Throws: What is wrong with the database.
  public func conflicts() throws(ChangesetError) -> [ChangesetConflict] {
    try read { (work) throws(ChangesetError) in try Conflicts(work: work).all() }
  }

  /// The same with the decisions that were made on other branches.
  package func conflictsOfAllBranches() throws(ChangesetError) -> [ChangesetConflict] {
    try read { (work) throws(ChangesetError) in
      try Conflicts(work: work).all(isOfAllBranches: true)
    }
  }

  /// Answers what a handler has put off; with the last answer the heads are merged.
  ///
  /// - Parameters:
  ///   - conflict: The row, as ``conflicts()`` has it.
  ///   - resolution: What becomes of it.
  /// - Throws: What is wrong with the database.
  public func resolve(
    _ conflict: RowConflict,
    _ resolution: Resolution
  ) throws(ChangesetError) {
    try move { (work) throws(ChangesetError) in
      let row = ContestedRow(
        table: conflict.table,
        key: RowKey(try conflict.key.columns()),
        kind: .cell,
        columns: conflict.columns,
        base: nil,
        ours: nil,
        theirs: nil,
        oursID: conflict.oursCommit.id,
        theirsID: conflict.theirsCommit.id
      )
      try Answers(connection: work.connection).set(RowAnswer(resolution), for: row)
      let branch = try work.dictionaries.number(forName: conflict.oursCommit.branch)
      _ = try Merging(work).mergeAll(branch: branch)
    }
  }

  /// Commits what a merge has lost: the row that was set aside, the values that did not count, or the deletion of a row
  /// that was kept.
  ///
  /// A row is deleted as by a `DELETE`: foreign keys are enforced, and triggers of the app run.
  ///
  /// - Parameters:
  ///   - conflict: The decision, as ``conflicts()`` has it.
  ///   - key: The key to put the row back under; nil for its own.
  /// - Returns: The commit; nil if the row holds all of it already, or is deleted already.
  /// - Throws: That the tables do not take it beside the rows that are there, such as another row of that key or a
  ///   reference to a row that is gone, or that rows are not committed.
  @discardableResult
  public func restoreConflict(
    _ conflict: ChangesetConflict,
    key: [FieldValue]? = nil
  ) throws(ChangesetError) -> Changeset? {
    try run(enforcingForeignKeys: conflict.hasDroppedDeletion) { (work) throws(ChangesetError) in
      let restoring = Restoring(work: work)
      if conflict.hasDroppedDeletion { return try restoring.delete(conflict: conflict, key: key) }
      return try restoring.restore(conflict: conflict, key: key)
    }
  }

  // MARK: Taking back

  /// Commits the opposite of a commit; what was changed since stays, as a merge would have it, and is in
  /// ``conflicts()``.
  ///
  /// What others had written beside the commit, and a merge has let give way to it, comes back.
  ///
  /// Of a merge one side stays: that of the first of ``Changeset/parents``, if no other is named. A branch that went forward
  /// without a merge has the commits themselves: take back each of them, the latest first.
  ///
  /// - Parameters:
  ///   - revision: The commit to take back.
  ///   - kept: Of a merge, the parent whose side stays.
  ///   - meta: What is said of the new commit, at most 65,536 bytes.
  /// - Returns: The new commit; nil if nothing of the old one is left.
  /// - Throws: That HEAD is not made of such a commit, that it has no such parent, that rows are not committed, that an older commit is checked out, or
  ///   ``ChangesetError/Code/historyTooShort`` where changes are needed that were removed.
  @discardableResult
  public func revert(
    _ revision: Revision,
    keeping kept: Revision? = nil,
    meta: String = "{}"
  ) throws(ChangesetError) -> Changeset? {
    try move { (work) throws(ChangesetError) in
      let search = RevisionSearch(work: work)
      let row = try search.row(revision)
      let parent = try kept.map { (revision) throws(ChangesetError) in try search.row(revision) }
      return try Reverting(work: work).revert(row: row, keeping: parent, meta: meta)
    }
  }

  /// Takes this replica's last commit back that is not taken back yet; others' commits stay.
  ///
  /// A value of theirs that a merge has let give way to the commit comes back. A merge is no commit of this replica's.
  ///
  /// - Returns: The commit that does it; nil if there is nothing to take back.
  /// - Throws: That rows are not committed, or that an older commit is checked out.
  @discardableResult
  public func undo() throws(ChangesetError) -> Changeset? {
    try move { (work) throws(ChangesetError) in
      // A commit whose values others have all replaced is passed over.
      var void: Set<ChangesetID> = []
      while let row = try UndoSearch(work: work).undoable(besides: void) {
        let commit = try Reverting(work: work).revert(row: row, meta: StepMark.undo.meta)
        if let commit { return commit }
        void.insert(row.id)
      }
      return nil
    }
  }

  /// Takes the last ``undo()`` back, if nothing was committed here since.
  ///
  /// - Returns: The commit that does it; nil if there is nothing to put back.
  /// - Throws: That rows are not committed, or that an older commit is checked out.
  @discardableResult
  public func redo() throws(ChangesetError) -> Changeset? {
    try move { (work) throws(ChangesetError) in
      guard let row = try UndoSearch(work: work).redoable() else { return nil }
      return try Reverting(work: work).revert(row: row, meta: StepMark.redo.meta)
    }
  }
}
