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

  /// Whether a merge has lost values that nobody has put back: they are nowhere else.
  private func isNeeded(row: LogRow) throws(ChangesetError) -> Bool {
    guard row.kind == .merge else { return false }
    let edits = DecidedEdits(log: work.log)
    for number in try work.log.written(row: row).conflicts.indices
    where try edits.isRestored(merge: row.id, number) == false {
      return true
    }
    return false
  }
}

/// The parents of all commits by number.
private struct ParentTable {
  private var parents: [(first: Int, second: Int)]

  init(_ connection: HistoryConnection) throws(ChangesetError) {
    let last = Int(try connection.integer("SELECT max(seq) FROM changesets_log") ?? 0)
    var parents = [(first: Int, second: Int)](repeating: (-1, 0), count: last + 1)
    let rows = try connection.rows("SELECT seq, parent, merged FROM changesets_log") {
      (Int($0.integer(0)), Int($0.integer(1)), Int($0.integer(2)))
    }
    for (seq, first, second) in rows where parents.indices.contains(seq) {
      parents[seq] = (first, second)
    }
    self.parents = parents
  }

  /// So many first parents before a commit; nil if there are not so many.
  func ancestor(of seq: Int64, at depth: Int) -> Int64? {
    var seq = Int(seq)
    for _ in 0..<depth where seq > 0 { seq = parents[seq].first }
    return seq > 0 ? Int64(seq) : nil
  }

  /// All commits that one is made of, without it.
  func ancestors(of seq: Int64) -> Set<Int64> {
    var found: Set<Int64> = []
    var frontier = [Int(seq)]
    while let next = frontier.popLast() {
      for parent in [parents[next].first, parents[next].second]
      where parent > 0 && found.insert(Int64(parent)).inserted {
        frontier.append(parent)
      }
    }
    return found
  }

  /// The latest cut on the way of first parents to a commit; nil if there is none.
  func cut(from start: Int64) -> Int64? {
    var seq = Int(start)
    while seq > 0 {
      guard let other = beside(cut: seq) else { return Int64(seq) }
      // Parents have smaller numbers than their children.
      var (one, two) = (seq, other)
      while one != two, one > 0, two > 0 {
        if one > two { one = parents[one].first } else { two = parents[two].first }
      }
      seq = one == two ? one : 0
    }
    return nil
  }

  /// A commit that is no ancestor, and whose way of first parents does not come here; nil if there is none.
  private func beside(cut: Int) -> Int? {
    let before = ancestors(of: Int64(cut))
    var isBehind = [Bool](repeating: false, count: parents.count)
    isBehind[cut] = true
    for seq in parents.indices where seq > 0 && seq != cut {
      let first = parents[seq].first
      // Numbers of which there is no commit.
      if first < 0 || before.contains(Int64(seq)) { continue }
      guard first > 0, isBehind[first] else { return seq }
      isBehind[seq] = true
    }
    return nil
  }
}

/// How much of a history was removed from this copy.
public struct ShortenedHistory: Sendable, Hashable {
  /// How many commits have lost their changes.
  public internal(set) var commits = 0
  /// How many bytes these had.
  public internal(set) var bytes = 0
}
