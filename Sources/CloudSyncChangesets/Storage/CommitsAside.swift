import CloudSyncSQLiteSupport

/// The commits that were not taken because they do not go on from the horizon: what goes on from them does not either.
///
/// They stand among those that wait, for nothing.
struct CommitsAside {
  let connection: HistoryConnection

  func contains(_ id: ChangesetID) throws(ChangesetError) -> Bool {
    try connection.integer(
      "SELECT 1 FROM changesets_waiting WHERE id = ?1 AND missing IS NULL",
      .blob(id.bytes)
    ) != nil
  }

  func add(_ id: ChangesetID) throws(ChangesetError) {
    try connection.run("REPLACE INTO changesets_waiting VALUES(?1, NULL, NULL)", .blob(id.bytes))
  }

  /// How many others wait for what they go on from.
  func countWaiting() throws(ChangesetError) -> Int64 {
    let query = "SELECT count(*) FROM changesets_waiting WHERE missing IS NOT NULL"
    return try connection.integer(query) ?? 0
  }
}
