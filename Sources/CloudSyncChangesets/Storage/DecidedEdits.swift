import CloudSyncSQLiteSupport

/// Edits that have to do with what merges have decided: nobody has to look at all edits for them.
///
/// What is remembered is a function of the commits of the log, in whatever order they came.
struct DecidedEdits {
  let log: CommitLog

  private var connection: HistoryConnection { log.connection }

  /// What a row of the table is about, in place of the number of a decision.
  private enum Mark {
    /// An edit that decides itself.
    static let decides: Int64 = -1
    /// An edit that takes back one which puts something back, or takes that back.
    static let reverts: Int64 = -2
  }

  /// Remembers a commit with its row of the log, if it is one of them.
  func note(commit: Commit, row: LogRow) throws(ChangesetError) {
    guard commit.header.kind == .edit else { return }
    let (id, seq) = (row.id, row.seq)
    if let mark = RestoreMark(meta: commit.header.meta) {
      return try set(mark.merge.bytes + id.bytes, Int64(mark.number), to: seq)
    }
    // A commit that takes another back decides what is left of that, as merges do.
    if !commit.conflicts.isEmpty { try set(id.bytes, Mark.decides, to: seq) }
    if let reverts = commit.header.reverts, try isKnown(reverts) {
      try set(reverts.bytes + id.bytes, Mark.reverts, to: seq)
    }
  }

  /// Whether an edit decides itself what becomes of values.
  func decides(_ commit: ChangesetID) throws(ChangesetError) -> Bool {
    try connection.integer(
      "SELECT 1 FROM changesets_conflicts WHERE id = ?1 AND number = ?2",
      .blob(commit.bytes),
      .integer(Mark.decides)
    ) != nil
  }

  /// Remembers that a decision needs nothing put back: the rows hold all of it.
  func dismiss(merge: ChangesetID, _ number: Int) throws(ChangesetError) {
    try set(merge.bytes, Int64(number), to: 0)
  }

  /// Whether a decision is put back by one of some commits, or of all, that none of them takes back.
  func isRestored(
    merge: ChangesetID,
    _ number: Int,
    within commits: Set<Int64>? = nil
  ) throws(ChangesetError) -> Bool {
    for (id, seq) in try rows(of: merge, Int64(number)) {
      guard let id else { return true }
      if commits?.contains(seq) != false, try isTakenBack(id, within: commits) == false {
        return true
      }
    }
    return false
  }

  private func isTakenBack(
    _ commit: ChangesetID,
    within commits: Set<Int64>?
  ) throws(ChangesetError) -> Bool {
    for (id, seq) in try rows(of: commit, Mark.reverts) {
      guard let id, commits?.contains(seq) != false else { continue }
      if try isTakenBack(id, within: commits) == false { return true }
    }
    return false
  }

  // MARK: The table

  /// An identifier may have that of a commit behind it.
  private func set(_ id: [UInt8], _ number: Int64, to seq: Int64) throws(ChangesetError) {
    try connection.run(
      "INSERT OR IGNORE INTO changesets_conflicts VALUES(?1, ?2, ?3)",
      .blob(id),
      .integer(number),
      .integer(seq)
    )
  }

  /// The commits that stand behind an identifier; nil for itself.
  private func rows(
    of id: ChangesetID,
    _ number: Int64
  ) throws(ChangesetError) -> [(ChangesetID?, Int64)] {
    try connection.rows(
      """
      SELECT substr(id, 33), state FROM changesets_conflicts
      WHERE id >= ?1 AND id < ?2 AND number = ?3 ORDER BY id
      """,
      .blob(id.bytes),
      .blob(id.bytes + [UInt8](repeating: .max, count: 33)),
      .integer(number)
    ) { (ChangesetID(bytes: $0.bytes(0)), $0.integer(1)) }
  }

  /// Whether a commit puts something back, or takes one back that does.
  private func isKnown(_ commit: ChangesetID) throws(ChangesetError) -> Bool {
    try connection.integer(
      "SELECT 1 FROM changesets_conflicts WHERE substr(id, 33) = ?1 LIMIT 1",
      .blob(commit.bytes)
    ) != nil
  }
}
