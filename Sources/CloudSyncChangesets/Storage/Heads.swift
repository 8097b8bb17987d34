import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Where the rows of the tables are in the history, and where its branches end.
struct Heads {
  /// HEAD.
  struct Position: Sendable, Hashable {
    /// The number of the branch's name.
    var branch: Int64
    /// The commit whose state the tables hold, with what is not committed; nil for the empty database.
    var seq: Int64?
    /// Whether an older commit is checked out.
    var isDetached: Bool
    /// The latest time that was given or seen.
    var clock: HybridTime
  }

  let connection: HistoryConnection

  func position() throws(ChangesetError) -> Position {
    let rows = try connection.rows(
      "SELECT branch, seq, is_head, time FROM changesets_heads WHERE is_head > 0 LIMIT 2"
    ) { row in
      Position(
        branch: row.integer(0),
        seq: row.isNull(1) ? nil : row.integer(1),
        isDetached: row.integer(2) == 2,
        clock: HybridTime(rawValue: row.integer(3))
      )
    }
    guard rows.count == 1 else {
      throw ChangesetError(
        .damaged,
        "the history has \(rows.isEmpty ? "no HEAD" : "several HEADs"); restore a copy of the database"
      )
    }
    return rows[0]
  }

  func set(_ position: Position) throws(ChangesetError) {
    try connection.run(
      """
      UPDATE changesets_heads SET branch = ?1, seq = ?2, is_head = ?3, time = max(time, ?4)
      WHERE number = 0
      """,
      .integer(position.branch),
      position.seq.map { .integer($0) } ?? .null,
      .integer(position.isDetached ? 2 : 1),
      .integer(position.clock.rawValue)
    )
  }

  /// Moves HEAD with its branch to a commit that is made on it.
  func advance(
    position: Position,
    to row: LogRow,
    after parent: LogRow?,
    clock: HybridTime
  ) throws(ChangesetError) {
    // Beside the first commit of a branch the branch may have heads that it is made of.
    if let parent, parent.branch != position.branch {
      try replace(by: row, after: [parent])
      var position = position
      (position.seq, position.clock) = (row.seq, clock)
      return try set(position)
    }
    try connection.run(
      """
      UPDATE changesets_heads SET seq = ?1, time = CASE number WHEN 0 THEN ?4 END
      WHERE branch = ?2 AND seq IS ?3 AND is_head < 2
      """,
      .integer(row.seq),
      .integer(position.branch),
      position.seq.map { .integer($0) } ?? .null,
      .integer(clock.rawValue)
    )
    // The first commit of all, or one on a commit that has others already.
    if connection.sqlite.changeCount < 2 { try add(row.seq, branch: position.branch) }
  }

  /// The latest time that was given or seen is no earlier than a time.
  func notice(time: HybridTime) throws(ChangesetError) {
    try connection.run(
      "UPDATE changesets_heads SET time = max(time, ?1) WHERE number = 0",
      .integer(time.rawValue)
    )
  }
}
