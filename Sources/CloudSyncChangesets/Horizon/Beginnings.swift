import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Lets lines of the log begin with a commit whose whole state is known, where older changes were removed.
struct Beginnings {
  let work: HistoryWork

  /// Lets a line begin with a commit, whose changes are its whole state then.
  ///
  /// - Parameters:
  ///   - row: The commit.
  ///   - state: All of its rows, as insertions.
  ///   - fills: What the hash of the state leaves out.
  /// - Throws: What is wrong with the database.
  func begin(with row: LogRow, state: StateDelta, fills: Fills) throws(ChangesetError) {
    var header = try work.log.header(row: row)
    let said = try work.changeset(row: row)
    header.parents = []
    (header.replica, header.meta) = (said.replica ?? "", said.meta)
    (header.reverts, header.originals) = (said.reverts, said.originals)
    let body = CommitWriter.body(of: Commit(header: header, changes: state.written(at: row.time)))
    try SnapshotRoots(connection: work.connection)
      .keep(
        root: .init(
          seq: row.seq,
          head: CommitWriter.head(of: header),
          body: [],
          fills: fills,
          below: try SnapshotMaking(work: work).below(row: row)
        )
      )
    try work.connection.run(
      "UPDATE changesets_log SET parent = NULL, merged = NULL, body = ?2 WHERE seq = ?1",
      .integer(row.seq),
      .blob(body)
    )
    try StateFrames.forget(work.connection)
  }
}
