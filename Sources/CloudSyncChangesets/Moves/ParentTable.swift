import CloudSyncSQLiteSupport

/// The parents of all commits by number.
struct ParentTable {
  private var parents: [(first: Int, second: Int)]
  /// Commits that belong to nobody's history any more.
  private var isCutOff: [Bool] = []

  /// - Parameters:
  ///   - connection: The database.
  ///   - others: Commits that belong to nobody's history, such as those that stand in for missing ones.
  /// - Throws: Why the log cannot be read.
  init(_ connection: HistoryConnection, without others: Set<Int64> = []) throws(ChangesetError) {
    let last = Int(try connection.integer("SELECT max(seq) FROM changesets_log") ?? 0)
    var parents = [(first: Int, second: Int)](repeating: (-1, 0), count: last + 1)
    let rows = try connection.rows("SELECT seq, parent, merged FROM changesets_log") {
      (Int($0.integer(0)), Int($0.integer(1)), Int($0.integer(2)))
    }
    for (seq, first, second) in rows where parents.indices.contains(seq) {
      parents[seq] = (first, second)
    }
    self.parents = parents
    isCutOff = [Bool](repeating: false, count: parents.count)
    for seq in others where isCutOff.indices.contains(Int(seq)) { isCutOff[Int(seq)] = true }
    guard let horizon = try Horizon(connection)?.row else { return }
    let before = ancestors(of: horizon.seq)
    let old = try connection.rows(
      "SELECT seq FROM changesets_log WHERE remote = 2 OR generation <= ?1",
      .integer(horizon.generation)
    ) { $0.integer(0) }
    for seq in old where seq != horizon.seq && !before.contains(seq) { isCutOff[Int(seq)] = true }
  }

  /// Where the ways of first parents from two commits meet; nil if they do not.
  func meeting(_ one: Int64, _ other: Int64) -> Int64? {
    var (one, other) = (Int(one), Int(other))
    // Parents have smaller numbers than their children.
    while one != other, one > 0, other > 0 {
      if one > other { one = parents[one].first } else { other = parents[other].first }
    }
    return one == other && one > 0 ? Int64(one) : nil
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
      seq = Int(meeting(Int64(seq), Int64(other)) ?? 0)
    }
    return nil
  }

  /// Whether every commit is before this one or goes on from it, by first parents too.
  func isCut(_ seq: Int64) -> Bool { beside(cut: Int(seq)) == nil }

  /// A commit that is no ancestor, and whose way of first parents does not come here; nil if there is none.
  private func beside(cut: Int) -> Int? {
    let before = ancestors(of: Int64(cut))
    var isBehind = [Bool](repeating: false, count: parents.count)
    isBehind[cut] = true
    for seq in parents.indices where seq > 0 && seq != cut {
      let first = parents[seq].first
      // Numbers of which there is no commit.
      if first < 0 || isCutOff[seq] || before.contains(Int64(seq)) { continue }
      guard first > 0, isBehind[first] else { return seq }
      isBehind[seq] = true
    }
    return nil
  }
}
