import CloudSyncSQLite

extension ChangesetRepository {
  /// The branches that are not deleted, by name, and the present one.
  ///
  /// - Throws: What is wrong with the database.
  public func branches() throws(ChangesetError) -> [Branch] {
    try read { (work) throws(ChangesetError) in try Branches(work: work).all() }
  }

  /// Begins a branch, and stays on the present one.
  ///
  /// It travels with its first commit; where others have commits on a branch of that name, it is that branch. One that was
  /// deleted comes back for all where it ended, or begins again at a commit after that.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - revision: The commit that it begins at.
  /// - Throws: That there is such a branch, that none can be called so, or that there is no commit.
  public func createBranch(_ name: String, at revision: Revision = .head) throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in
      try Branches(work: work).create(name: name, at: revision)
    }
  }

  /// Makes the rows those of a branch's head; commits are made on it from then on.
  ///
  /// A head of an older schema is migrated first, as ``mergeAll(_:)`` does.
  ///
  /// - Parameter name: The branch.
  /// - Throws: That there is no such branch, that it has several heads, or that rows are not committed.
  public func switchBranch(_ name: String) throws(ChangesetError) {
    try HeadMigration(repository: self).run(branch: name)
    try move { (work) throws(ChangesetError) in
      let (branch, head) = try Branches(work: work).head(of: name)
      try Moving(work: work).move(to: head, branch: branch)
    }
  }

  /// Hides a branch on every replica; its commits stay.
  ///
  /// Commits that were made on it elsewhere, and that this replica had not got, bring it back for all.
  ///
  /// - Parameter name: A branch other than the present one.
  /// - Throws: That there is no such branch, that it is the present one, or that its heads are not merged.
  public func deleteBranch(_ name: String) throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in try Branches(work: work).hide(name: name) }
  }

  /// The tags, by name.
  ///
  /// - Throws: What is wrong with the database.
  public func tags() throws(ChangesetError) -> [Tag] {
    try read { (work) throws(ChangesetError) in
      try Tags(connection: work.connection).entries(ofKind: .tag)
        .compactMap { entry in entry.id.map { Tag(name: entry.name, id: $0) } }
    }
  }

  /// Gives a commit a name, or takes the name away; on all replicas the later word counts.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - revision: The commit; nil takes the name away.
  /// - Throws: That there is no such commit, or that no tag can be called so.
  public func tag(_ name: String, _ revision: Revision?) throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in
      try Branches(work: work).tag(name: name, revision)
    }
  }

  // MARK: Going to commits

  /// Makes the rows those of a commit; nothing can be committed until a branch is switched to.
  ///
  /// ``Revision/head`` is where the rows are already: nothing happens, and a branch stays switched to.
  ///
  /// - Parameter revision: The commit.
  /// - Throws: That there is no such commit, that rows are not committed, ``ChangesetError/Code/needsUpgrade`` where the
  ///   commit has tables or columns which this app lacks, or ``ChangesetError/Code/historyTooShort`` where changes are needed
  ///   that were removed.
  public func checkout(_ revision: Revision) throws(ChangesetError) {
    try move { (work) throws(ChangesetError) in
      let seq = try RevisionSearch(work: work).row(revision).seq
      if revision == .head { return }
      try Moving(work: work).move(to: seq, isDetached: true)
    }
  }

  /// Makes the rows those of the present branch's head, if it descends from HEAD.
  ///
  /// - Returns: The commit; nil if there is none after HEAD.
  /// - Throws: That several heads descend from HEAD, which ``mergeAll(_:)`` joins, or that rows are not
  ///   committed.
  @discardableResult
  public func pull() throws(ChangesetError) -> Changeset? {
    try move { (work) throws(ChangesetError) in
      // What others or the app have changed may let rows in.
      if try work.parked.exist(), try work.uncommitted.hasChanges() == false {
        try work.parked.retry(in: work.tables)
      }
      guard let row = try Branches(work: work).descendant() else { return nil }
      try Moving(work: work).move(to: row.seq)
      return try work.changeset(row: row)
    }
  }

  /// Commits the rows of an older commit on top of HEAD.
  ///
  /// - Parameters:
  ///   - revision: The older commit.
  ///   - meta: What is said of the new commit, at most 65,536 bytes.
  /// - Returns: The new commit; nil if the rows are the same.
  /// - Throws: What ``checkout(_:)`` throws, or that an older commit is checked out.
  @discardableResult
  public func restore(
    _ revision: Revision,
    meta: String = "{}"
  ) throws(ChangesetError) -> Changeset? {
    try move { (work) throws(ChangesetError) in
      try work.checkNothingIsUncommitted()
      let target = try RevisionSearch(work: work).row(revision)
      try work.checkKnown(target)
      let position = try work.heads.position()
      let changes = try work.log.changes(from: position.seq, to: target.seq).kept(in: work.tables)
      return try Recording(work: work).record(changes: changes, meta: meta)
    }
  }

  /// Writes the database as of a commit into a new file, without its history.
  ///
  /// Tables outside of the history are copied as they are.
  ///
  /// - Parameters:
  ///   - revision: The commit.
  ///   - path: The new file, which must not exist.
  /// - Throws: That there is no such commit, what is wrong with the file, ``ChangesetError/Code/needsUpgrade``, or
  ///   ``ChangesetError/Code/historyTooShort``, as ``checkout(_:)`` does.
  public func export(_ revision: Revision, to path: String) throws(ChangesetError) {
    let id = try read { (work) throws(ChangesetError) in
      let row = try RevisionSearch(work: work).row(revision)
      // What cannot be had is told before there is a file.
      try Moving(work: work).check(target: row)
      return row.id
    }
    try HistoryExport(database: database, options: options).export(id: id, to: path)
  }
}

extension ChangesetRepository {
  /// Whether the present branch has a head that the rows can be taken to, after a merge or a fetch.
  package func hasNewerHead() throws(ChangesetError) -> Bool {
    try read { (work) throws(ChangesetError) in
      try Branches(work: work).descendants(of: work.heads.position()).isEmpty == false
    }
  }

  /// Why a head of the present branch can be neither merged nor gone to, and whether it is one that a migration has left
  /// behind; nil if there is none.
  package func unreadableHead() throws(ChangesetError) -> (error: ChangesetError, isOlder: Bool)? {
    try read { (work) throws(ChangesetError) in
      let branch = try work.heads.position().branch
      var older: ChangesetError?
      for head in try work.branchHeads.heads(ofBranch: branch) {
        let row = try work.log.row(head.seq)
        do throws(ChangesetError) { try work.checkKnown(row) } catch {
          guard try work.isLeft(schema: row.schema) else { return (error, false) }
          older = older ?? error
        }
      }
      return older.map { ($0, true) }
    }
  }
}
