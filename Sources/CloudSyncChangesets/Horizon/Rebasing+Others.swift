import CloudSyncSQLiteSupport

// What others have left behind: anybody who has it can put it on top of the history.
extension Rebasing {
  /// Puts the commits of others that go on from before the squash on top of the history, those of a branch or of all, and
  /// moves the rows there; returns the commits that were made.
  func runForOthers(branch: String?) throws(ChangesetError) -> [LogRow] {
    guard let horizon = try Horizon(work.connection) else { return [] }
    // What was done here comes first: it may have some of theirs.
    var made = try run()
    let left = LeftBehind(work: work)
    let commits = try left.changesets()
    if let branch, !commits.contains(where: { $0.branch.hasSameBytes(as: branch) }),
      try work.dictionaries.number(ofName: branch) == nil
    {
      throw ChangesetError(.noSuchBranch, "there is no branch “\(branch)”")
    }
    if commits.isEmpty { return made }
    let position = try work.heads.position()
    if !position.isDetached { try work.checkNothingIsUncommitted() }
    made += try putAndKeep(onTopOf: horizon, branch: branch) { () throws(ChangesetError) in
      try left.bringIn()
    }
    try follow(position: position, horizon: horizon)
    return made
  }
}
