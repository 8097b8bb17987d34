import CloudSyncSQLiteSupport

// What others have left behind: anybody who has it can put it on top of the history.
extension Rebasing {
  /// Puts the commits of others that go on from before the squash on top of the history, those of a branch or of all, and
  /// moves the rows there; returns the commits that were made.
  func runForOthers(branch: Int64?) throws(ChangesetError) -> [LogRow] {
    guard let horizon = try Horizon(work.connection) else { return [] }
    // What was done here comes first: it may have some of theirs.
    var made = try run()
    let left = LeftBehind(work: work)
    if try left.changesets().isEmpty { return made }
    let position = try work.heads.position()
    if !position.isDetached { try work.checkNothingIsUncommitted() }
    // What they go on from is needed while they are merged, and never again.
    let commits = try work.connection.undoing { () throws(ChangesetError) in
      let tips = try left.bringIn(branch: branch)
      let last = try work.connection.integer("SELECT max(seq) FROM changesets_log") ?? 0
      _ = try put(heads: tips, onTopOf: horizon)
      return try self.commits(after: last)
    }
    for commit in commits {
      let parents = try commit.header.parents.map { (id) throws(ChangesetError) in
        try work.log.row(try HistoryGraph(work).number(id: id))
      }
      let row = try Committing(work: work).store(commit: commit, parents: parents)
      try work.heads.replace(by: row, after: parents)
      try work.heads.notice(time: row.time)
      if !commit.header.originals.isEmpty { made.append(row) }
    }
    try follow(position: position, horizon: horizon)
    return made
  }

  /// The commits that were made since another one, as they were written.
  private func commits(after seq: Int64) throws(ChangesetError) -> [Commit] {
    let numbers = try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE seq > ?1 AND remote <> 2 ORDER BY seq",
      .integer(seq)
    ) { $0.integer(0) }
    return try numbers.map { (seq) throws(ChangesetError) in
      try work.log.written(row: try work.log.row(seq))
    }
  }
}
