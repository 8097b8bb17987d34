import CloudSyncSQLiteSupport

/// Edits that have decided something, as merges do: those that take a commit back of which something stays.
struct DecidedEdits {
  let connection: HistoryConnection

  /// Remembers a commit if it is one of them: nobody has to look at all edits for them.
  func note(commit: Commit, id: ChangesetID) throws(ChangesetError) {
    guard commit.header.kind != .merge, !commit.conflicts.isEmpty else { return }
    try connection.run(
      "INSERT OR IGNORE INTO changesets_conflicts VALUES(?1, -1, 0)",
      .blob(id.bytes)
    )
  }
}
