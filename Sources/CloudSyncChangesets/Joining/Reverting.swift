/// Commits the opposite of commits.
struct Reverting {
  let work: HistoryWork

  /// Takes a commit back that HEAD has.
  func revert(row: LogRow, meta: String) throws(ChangesetError) -> Changeset? {
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
    let plan = try Merging(work).reversal(of: row, head: try work.log.row(seq))
    return try Recording(work: work)
      .record(changes: plan.changes, meta: meta, reverts: row.id, conflicts: plan.conflicts)
  }
}
