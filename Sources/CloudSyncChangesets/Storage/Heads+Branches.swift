import CloudSyncSQLiteSupport

/// Where branches end.
///
/// A branch ends with its commits that no other commit of it goes on from: these follow from the log alone, so every
/// replica that has the same commits has the same ends. A branch that is begun has a *beginning* besides, a commit of
/// another branch, which nobody else knows of: it is a head as long as the branch has no commits, while HEAD is
/// there, and where it goes on from all that the branch has.
extension Heads {
  typealias Head = (branch: Int64, seq: Int64)

  private struct Stored {
    var branch: Int64
    var seq: Int64
    var isBeginning: Bool
  }

  private func stored(ofBranch branch: Int64?) throws(ChangesetError) -> [Stored] {
    try connection.rows(
      """
      SELECT h.branch, h.seq, l.branch IS NOT h.branch
      FROM changesets_heads h LEFT JOIN changesets_log l ON l.seq = h.seq
      WHERE h.is_head = 0 AND (?1 IS NULL OR h.branch = ?1) ORDER BY h.branch, h.seq
      """,
      branch.map { .integer($0) } ?? .null
    ) { Stored(branch: $0.integer(0), seq: $0.integer(1), isBeginning: $0.integer(2) != 0) }
  }

  /// The heads of a branch, or of all.
  func heads(ofBranch branch: Int64? = nil) throws(ChangesetError) -> [Head] {
    var rows = try stored(ofBranch: branch)
    for beginning in rows where beginning.isBeginning {
      let ends = rows.filter { $0.branch == beginning.branch && !$0.isBeginning }
      if ends.isEmpty { continue }
      let before = Set(
        try ends.map(\.seq)
          .filtered { (end) throws(ChangesetError) in
            try CommitLog(connection: connection).isAncestor(ancestor: end, of: beginning.seq)
          }
      )
      var counts = before.count == ends.count
      if !counts { counts = try isHead(beginning) }
      rows.removeAll { row in
        row.branch == beginning.branch
          && (counts ? before.contains(row.seq) : row.seq == beginning.seq)
      }
    }
    return rows.map { (branch: $0.branch, seq: $0.seq) }
  }

  private func isHead(_ stored: Stored) throws(ChangesetError) -> Bool {
    let position = try position()
    return !position.isDetached && position.branch == stored.branch && position.seq == stored.seq
  }

  /// The commits that a branch ends with: none if it has only been begun.
  func ends(ofBranch branch: Int64) throws(ChangesetError) -> [Int64] {
    try stored(ofBranch: branch).filter { !$0.isBeginning }.map(\.seq)
  }

  /// The heads of a branch that are not beside the horizon.
  func joinable(ofBranch branch: Int64) throws(ChangesetError) -> [Head] {
    let beside = try numbersBeside()
    return try heads(ofBranch: branch).filter { !beside.contains($0.seq) }
  }

  /// The heads that do not go on from the horizon, and that nothing stands for which does.
  func beside() throws(ChangesetError) -> [Head] {
    let beside = try allBeside()
    if beside.isEmpty { return [] }
    let covered = try CoveredCommits(connection)
    return try beside.filtered { (head) throws(ChangesetError) in
      try covered.isDone(CommitLog(connection: connection).row(head.seq)) == false
    }
  }

  /// The heads that do not go on from the horizon.
  func allBeside() throws(ChangesetError) -> [Head] {
    let beside = try numbersBeside()
    return beside.isEmpty ? [] : try heads().filter { beside.contains($0.seq) }
  }

  private func numbersBeside() throws(ChangesetError) -> Set<Int64> {
    Set(
      try connection.rows(
        """
        SELECT h.seq FROM changesets_heads h JOIN changesets_log l ON l.seq = h.seq
        WHERE h.is_head = 0 AND l.remote = 2
        """
      ) { $0.integer(0) }
    )
  }

  // MARK: Writing

  /// Makes a commit a head of its branch, in place of those that it goes on from.
  func replace(by row: LogRow, after parents: [LogRow]) throws(ChangesetError) {
    for parent in parents { try remove(seq: parent.seq, branch: row.branch) }
    // It may go on from heads through other branches that have merged them.
    if parents.contains(where: { $0.branch != row.branch }) {
      for head in try stored(ofBranch: row.branch)
      where try CommitLog(connection: connection).isAncestor(ancestor: head.seq, of: row.seq) {
        try remove(seq: head.seq, branch: row.branch)
      }
    }
    try add(row.seq, branch: row.branch)
  }

  /// Begins a branch at a commit, instead of where it was begun before.
  func begin(branch: Int64, at seq: Int64) throws(ChangesetError) {
    try forgetBeginning(ofBranch: branch)
    if try ends(ofBranch: branch).contains(seq) { return }
    try add(seq, branch: branch)
  }

  /// Forgets where a branch was begun.
  func forgetBeginning(ofBranch branch: Int64) throws(ChangesetError) {
    for head in try stored(ofBranch: branch) where head.isBeginning {
      try remove(seq: head.seq, branch: branch)
    }
  }

  /// Lets branches end with other commits.
  ///
  /// Those that end before the horizon begin anew with it: others cannot know of them, and nothing can be done there. So
  /// does the present one of a copy that has nothing yet.
  func replace(
    ends: [Int64: [Int64]],
    horizon: LogRow,
    isBefore: (Int64) -> Bool
  ) throws(ChangesetError) {
    let former = try stored(ofBranch: nil)
    for head in former where !head.isBeginning || isBefore(head.seq) {
      try remove(seq: head.seq, branch: head.branch)
    }
    for branch in ends.keys.sorted() {
      for seq in (ends[branch] ?? []).sorted() { try add(seq, branch: branch) }
    }
    let present = try position().branch
    for branch in Set(former.map(\.branch) + [present]).sorted()
    where try stored(ofBranch: branch).isEmpty {
      try add(horizon.seq, branch: branch)
    }
  }

  func add(_ seq: Int64, branch: Int64) throws(ChangesetError) {
    try connection.run(
      "INSERT INTO changesets_heads(branch, seq, is_head) VALUES(?1, ?2, 0)",
      .integer(branch),
      .integer(seq)
    )
  }

  /// A commit that may be a head of a branch is none any more.
  func remove(seq: Int64, branch: Int64) throws(ChangesetError) {
    try connection.run(
      "DELETE FROM changesets_heads WHERE is_head = 0 AND branch = ?1 AND seq = ?2",
      .integer(branch),
      .integer(seq)
    )
  }
}
