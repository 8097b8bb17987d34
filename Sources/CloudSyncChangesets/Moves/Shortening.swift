import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Removes the changes of old commits from this copy of a history; what the log says of them stays.
///
/// Old is what lies below a *cut*: a commit on the way of first parents to every commit that is none of its
/// ancestors. No state, merge or comparison of commits at the cut and after it needs what is below.
struct Shortening {
  let work: HistoryWork

  private var gone: GoneChanges { GoneChanges(connection: work.connection) }

  /// Removes the changes of commits that are further from HEAD than a number of commits.
  func run(depth: Int, includingUnsent: Bool) throws(ChangesetError) -> ShortenedHistory {
    guard depth >= 0 else {
      throw ChangesetError(.misuse, "a history cannot be shortened to \(depth) commits")
    }
    // A rebase needs what its commits go on from.
    guard try work.heads.beside().isEmpty else { throw ChangesetError.behindHorizon }
    let log = try ParentTable(work.connection)
    guard let head = try work.heads.position().seq, let start = log.ancestor(of: head, at: depth),
      let cut = log.cut(from: start)
    else { return ShortenedHistory() }
    var removed = ShortenedHistory()
    for seq in log.ancestors(of: cut).sorted() {
      let row = try work.log.row(seq)
      guard includingUnsent || row.isRemote, let body = try work.log.body(seq: seq),
        try isNeeded(row: row) == false
      else { continue }
      try gone.keepPreamble(row: row, body: body)
      try work.connection.run(
        "UPDATE changesets_log SET body = NULL WHERE seq = ?1",
        .integer(seq)
      )
      removed.commits += 1
      removed.bytes += body.count
    }
    if removed.commits > 0 {
      try work.info.set(.horizon, .integer(cut))
      // Packs of this copy's own come by once more; they bring nothing back.
      try work.connection.run("DELETE FROM changesets_info WHERE name = 'refill'")
    }
    return removed
  }

  /// Whether a merge has lost values that nobody has put back, or an edit that decides as merges do: they are nowhere else.
  private func isNeeded(row: LogRow) throws(ChangesetError) -> Bool {
    let edits = DecidedEdits(log: work.log)
    if row.kind != .merge, try edits.decides(row.id) == false { return false }
    for number in try work.log.written(row: row).conflicts.indices
    where try edits.isRestored(merge: row.id, number) == false {
      return true
    }
    return false
  }
}

/// How much of a history was removed from this copy.
public struct ShortenedHistory: Sendable, Hashable {
  /// How many commits have lost their changes.
  public internal(set) var commits = 0
  /// How many bytes these had.
  public internal(set) var bytes = 0
}
