/// Commits the opposite of commits.
struct Reverting {
  let work: HistoryWork

  /// Takes a commit back that HEAD has.
  ///
  /// - Parameters:
  ///   - row: The commit.
  ///   - kept: The parent whose side stays of a merge; nil for the first as people count them.
  ///   - meta: What is said of the new commit.
  /// - Returns: The new commit; nil if nothing is left to take back.
  /// - Throws: Why it cannot be taken back.
  func revert(
    row: LogRow,
    keeping kept: LogRow? = nil,
    meta: String
  ) throws(ChangesetError) -> Changeset? {
    try work.checkNothingIsUncommitted()
    guard let seq = try work.heads.position().seq else { return nil }
    guard try work.log.isAncestor(ancestor: row.seq, of: seq) else {
      throw ChangesetError(
        .noSuchRevision,
        "commit \(row.id.short) is not one that HEAD is made of"
      )
    }
    if try SnapshotRoots(connection: work.connection).contains(seq: row.seq) {
      throw ChangesetError(
        .historyTooShort,
        "what was before commit \(row.id.short) was squashed, so it cannot be taken back"
      )
    }
    if let kept, !row.parents.contains(kept.seq) {
      throw ChangesetError(
        .noSuchRevision,
        "commit \(kept.id.short) is no parent of \(row.id.short); of a merge one of its two parents stays"
      )
    }
    let parents = try work.log.parentsByBranch(of: row)
    let plan = try Merging(work)
      .reversal(of: row, to: kept?.seq ?? parents.first, head: try work.log.row(seq))
    return try Recording(work: work)
      .record(changes: plan.changes, meta: meta, reverts: row.id, conflicts: plan.conflicts)
  }
}
