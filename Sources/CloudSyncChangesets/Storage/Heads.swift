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
  func advance(position: Position, to seq: Int64, clock: HybridTime) throws(ChangesetError) {
    try connection.run(
      """
      UPDATE changesets_heads SET seq = ?1, time = CASE number WHEN 0 THEN ?4 END
      WHERE branch = ?2 AND seq IS ?3 AND is_head < 2
      """,
      .integer(seq),
      .integer(position.branch),
      position.seq.map { .integer($0) } ?? .null,
      .integer(clock.rawValue)
    )
    // The first commit of a branch, or one on a commit that has others already.
    if connection.sqlite.changeCount < 2 { try add(seq, branch: position.branch) }
  }

  /// The latest time that was given or seen is no earlier than a time.
  func notice(time: HybridTime) throws(ChangesetError) {
    try connection.run(
      "UPDATE changesets_heads SET time = max(time, ?1) WHERE number = 0",
      .integer(time.rawValue)
    )
  }

  /// The heads of a branch, or of all.
  func heads(ofBranch branch: Int64? = nil) throws(ChangesetError) -> [(branch: Int64, seq: Int64)]
  {
    try connection.rows(
      """
      SELECT branch, seq FROM changesets_heads
      WHERE is_head = 0 AND (?1 IS NULL OR branch = ?1) ORDER BY branch, seq
      """,
      branch.map { .integer($0) } ?? .null
    ) { (branch: $0.integer(0), seq: $0.integer(1)) }
  }

  /// The heads of a branch, or of all, that can be merged and gone to: those that are not beside the horizon.
  func joinable(
    ofBranch branch: Int64? = nil
  ) throws(ChangesetError) -> [(
    branch: Int64, seq: Int64
  )] {
    let beside = Set(try beside().map(\.seq))
    return try heads(ofBranch: branch).filter { !beside.contains($0.seq) }
  }

  /// The heads that do not go on from the horizon.
  func beside() throws(ChangesetError) -> [(branch: Int64, seq: Int64)] {
    try connection.rows(
      """
      SELECT h.branch, h.seq FROM changesets_heads h JOIN changesets_log l ON l.seq = h.seq
      WHERE h.is_head = 0 AND l.remote = 2 ORDER BY h.branch, h.seq
      """
    ) { (branch: $0.integer(0), seq: $0.integer(1)) }
  }

  func add(_ seq: Int64, branch: Int64) throws(ChangesetError) {
    try connection.run(
      "INSERT INTO changesets_heads(branch, seq, is_head) VALUES(?1, ?2, 0)",
      .integer(branch),
      .integer(seq)
    )
  }

  /// Whether a commit was a head of the branch; it is none any more.
  func remove(seq: Int64, branch: Int64) throws(ChangesetError) {
    try connection.run(
      "DELETE FROM changesets_heads WHERE is_head = 0 AND branch = ?1 AND seq = ?2",
      .integer(branch),
      .integer(seq)
    )
  }
}
