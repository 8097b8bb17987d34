extension ChangesetRepository {
  /// How this copy is to the horizon of a squashed history.
  func standing() throws(ChangesetError) -> Rebasing.Standing {
    try read { (work) throws(ChangesetError) in try Rebasing(work: work).standing() }
  }

  /// Lets the line of HEAD begin with what its rows tell, where changes are missing between that and the horizon.
  func beginWhereRowsTell() throws(ChangesetError) {
    try write { (work) throws(ChangesetError) in
      guard let horizon = try Horizon(work.connection) else { return }
      try Rebasing(work: work).keepStart(of: try work.heads.position(), horizon: horizon)
    }
  }

  /// Moves rows that are those of a commit before the horizon to the history's head, where nothing stands in the way.
  func catchUp() throws(ChangesetError) {
    guard try standing() == .lagging, try isClean() else { return }
    _ = try rebase()
  }

  /// The commits of others that go on from before a squash of the history, and that nobody has put on top of it.
  ///
  /// Whoever made them does that with ``ChangesetRemote/rebase()``. Where a device was lost nobody comes back to do it, and
  /// ``rebaseOthers(branch:)`` does it in its place.
  ///
  /// - Returns: Those that this copy has got, parents before children.
  /// - Throws: Why the history cannot be read.
  public func commitsLeftBehind() throws(ChangesetError) -> [Changeset] {
    try read { (work) throws(ChangesetError) in try LeftBehind(work: work).changesets() }
  }

  /// Puts commits of others that go on from before a squash on top of the history, for those who do not come back.
  ///
  /// The commits that are made name these as their ``Changeset/originals``, and whoever made them first as their replica.
  /// Where their makers come back after all, or other copies do the same, what they changed counts once. What this copy
  /// has itself from before the squash is put there first.
  ///
  /// A copy that began with a snapshot does not have what these commits go on from. It tells from their changes what was
  /// there before; what others have changed before the squash counts as changed by it.
  ///
  /// - Parameter branch: Whose commits; nil for those of all branches.
  /// - Returns: The commits that were made; none if nothing was left behind.
  /// - Throws: ``ChangesetError/Code/uncommittedChanges``, that a branch has heads which wait for answers, or with
  ///   ``ChangesetError/Code/needsUpgrade`` that they have tables or columns which this app lacks.
  @discardableResult
  public func rebaseOthers(branch: String? = nil) throws(ChangesetError) -> [Changeset] {
    try rebase(forOthers: true) { (rebasing) throws(ChangesetError) in
      try rebasing.runForOthers(branch: branch)
    }
  }

  /// Puts what commits beside the horizon have changed on top of the others' history, and moves the rows there.
  func rebase() throws(ChangesetError) -> [Changeset] {
    try rebase(forOthers: false) { (rebasing) throws(ChangesetError) in try rebasing.run() }
  }

  private func rebase(
    forOthers: Bool,
    run: @Sendable (Rebasing) throws(ChangesetError) -> [LogRow]
  ) throws(ChangesetError) -> [Changeset] {
    let migrated = try MigratedCommits.prepare(self, forOthers: forOthers)
    return try move { (work) throws(ChangesetError) in
      var made: [Changeset] = []
      for row in try run(Rebasing(work: work, migrated: migrated)) {
        made.append(try work.changeset(row: row))
      }
      return made
    }
  }
}
