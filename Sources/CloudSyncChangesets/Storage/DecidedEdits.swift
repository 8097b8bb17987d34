import CloudSyncSQLiteSupport

/// Edits that have to do with what merges have decided: nobody has to look at all edits for them.
///
/// Of each decision that was put back there is the number of the commit that did it, and the negative one of a commit
/// that has taken this back.
struct DecidedEdits {
  let log: CommitLog

  private var connection: HistoryConnection { log.connection }

  /// Remembers a commit of the log, if it is one of them.
  func note(commit: Commit, id: ChangesetID) throws(ChangesetError) {
    guard commit.header.kind == .edit else { return }
    if let mark = RestoreMark(meta: commit.header.meta) {
      return try set(restored: mark.merge, mark.number, by: try log.number(of: id))
    }
    // A commit that takes another back decides what is left of that, as merges do.
    if !commit.conflicts.isEmpty {
      try connection.run(
        "INSERT OR IGNORE INTO changesets_conflicts VALUES(?1, -1, 0)",
        .blob(id.bytes)
      )
    }
    guard let reverts = commit.header.reverts, let former = try log.number(of: reverts),
      let seq = try log.number(of: id)
    else { return }
    try connection.run(
      """
      UPDATE changesets_conflicts SET state = CASE state WHEN ?1 THEN -?2 ELSE ?2 END
      WHERE number >= 0 AND abs(state) = ?1
      """,
      .integer(former),
      .integer(seq)
    )
  }

  /// Remembers that a decision is put back; without a commit where the rows held all of it.
  func set(
    restored merge: ChangesetID,
    _ number: Int,
    by seq: Int64?
  ) throws(ChangesetError) {
    try connection.run(
      "REPLACE INTO changesets_conflicts VALUES(?1, ?2, ?3)",
      .blob(merge.bytes),
      .integer(Int64(number)),
      .integer(seq ?? Self.noCommit)
    )
  }

  /// Whether a decision is put back by one of some commits, and by none that was taken back.
  func isRestored(
    merge: ChangesetID,
    _ number: Int,
    within commits: Set<Int64>
  ) throws(ChangesetError) -> Bool {
    let state = try connection.integer(
      "SELECT state FROM changesets_conflicts WHERE id = ?1 AND number = ?2",
      .blob(merge.bytes),
      .integer(Int64(number))
    )
    guard let state else { return false }
    return state == Self.noCommit || commits.contains(state)
  }

  /// How many decisions of a merge are put back.
  func restoredCount(merge: ChangesetID) throws(ChangesetError) -> Int {
    Int(
      try connection.integer(
        "SELECT count(*) FROM changesets_conflicts WHERE id = ?1 AND number >= 0 AND state > 0",
        .blob(merge.bytes)
      ) ?? 0
    )
  }

  /// The first commit of a history puts nothing back.
  private static let noCommit: Int64 = 1
}
