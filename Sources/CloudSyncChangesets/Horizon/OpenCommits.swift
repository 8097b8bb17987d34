import CloudSyncSQLiteSupport

/// The commits beside the horizon that heads are made of and that the others' history lacks, in parts that are put on top
/// one by one.
///
/// A part ends where others may go on in another way: with what somebody has committed once and once more on it, and nothing
/// but that. So whatever two copies have of the same commits, one of them has a commit that stands for exactly what both
/// have, and no number is added twice. Merges have nothing of their own, and go with what goes on from them; migrations go
/// with what they migrate.
struct OpenCommits {
  private let work: HistoryWork
  private let placed: Placed
  private let heads: Set<Int64>
  private var rows: [Int64: LogRow] = [:]
  /// What each goes on from and stands for, of those that are open.
  private var sources: [Int64: [LogRow]] = [:]
  /// How many go on from each.
  private var children: [Int64: [Int64]] = [:]

  init(work: HistoryWork, heads: [LogRow], _ placed: Placed) throws(ChangesetError) {
    (self.work, self.placed) = (work, placed)
    self.heads = Set(heads.map(\.seq))
    var open = heads.filter { placed.isOpen($0) }
    for head in open { rows[head.seq] = head }
    while let next = open.popLast() {
      let before = try placed.sources(of: next).filter { placed.isOpen($0) }
      sources[next.seq] = before.sorted { ($0.generation, $0.id) < ($1.generation, $1.id) }
      for source in before {
        children[source.seq, default: []].append(next.seq)
        if rows.updateValue(source, forKey: source.seq) == nil { open.append(source) }
      }
    }
  }

  /// The commits that parts end with, those that others go on from before these.
  func ends(before heads: [LogRow]) throws(ChangesetError) -> [LogRow] {
    var ends: [LogRow] = []
    for row in ordered(before: heads) where try isEnd(row) { ends.append(row) }
    return ends
  }

  /// The commits that some are made of, sources first.
  private func ordered(before heads: [LogRow]) -> [LogRow] {
    var (ordered, seen): ([LogRow], Set<Int64>) = ([], [])
    var open: [(row: LogRow, isDone: Bool)] =
      heads.filter { rows[$0.seq] != nil }
      .sorted { ($1.generation, $1.id) < ($0.generation, $0.id) }.map { ($0, false) }
    while let (row, isDone) = open.popLast() {
      if isDone {
        ordered.append(row)
      } else if seen.insert(row.seq).inserted {
        open.append((row, true))
        for source in sources[row.seq]?.reversed() ?? [] { open.append((source, false)) }
      }
    }
    return ordered
  }

  private func isEnd(_ row: LogRow) throws(ChangesetError) -> Bool {
    let next = children[row.seq] ?? []
    guard !heads.contains(row.seq), next.count == 1, let child = rows[next[0]],
      sources[child.seq]?.count == 1,
      child.branch == row.branch, !isDouble(row), !isDouble(child)
    else { return true }
    guard child.kind != .migration, let maker = try maker(of: row) else { return false }
    guard child.kind == .edit, let other = try work.changeset(row: child).replica else {
      return true
    }
    return !maker.hasSameBytes(as: other)
  }

  /// Who has made a commit, or what it migrates; nil where everybody makes the same.
  private func maker(of row: LogRow) throws(ChangesetError) -> String? {
    var row = row
    while row.kind == .migration, let before = row.parent.flatMap({ rows[$0] }) { row = before }
    return row.kind == .edit ? try work.changeset(row: row).replica : nil
  }

  /// Whether a commit stands for others.
  private func isDouble(_ row: LogRow) -> Bool { placed.covered.originals[row.seq] != nil }
}
