extension ChangesetRepository {
  /// How this copy is to the horizon of a squashed history.
  func standing() throws(ChangesetError) -> Rebasing.Standing {
    try read { (work) throws(ChangesetError) in try Rebasing(work: work).standing() }
  }

  /// Moves rows that are those of a commit before the horizon to the history's head, where nothing stands in the way.
  func catchUp() throws(ChangesetError) {
    guard try standing() == .lagging, try status().isClean else { return }
    _ = try rebase()
  }

  /// Puts what commits beside the horizon have changed on top of the others' history, and moves the rows there.
  func rebase() throws(ChangesetError) -> [Changeset] {
    try move { (work) throws(ChangesetError) in
      var made: [Changeset] = []
      for row in try Rebasing(work: work).run() { made.append(try work.changeset(row: row)) }
      return made
    }
  }
}
