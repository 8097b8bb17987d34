import CloudSyncSQLiteSupport

// What commits beside the horizon have in common, with each other and with the others' history.
extension Rebasing {
  /// Heads and the commits beside the horizon that two of them have in common, by whatever parents, those that come first
  /// before the others: what two heads have in common is put on top once.
  func withForks(of heads: [LogRow]) throws(ChangesetError) -> [LogRow] {
    let graph = HistoryGraph(work)
    var rows = heads
    var place = 0
    while place < rows.count {
      for other in rows[..<place] {
        let common = try AncestorSearch.search(graph, one: [rows[place].id], other: [other.id])
        for id in common.best {
          let row = try work.log.row(try graph.number(id: id))
          if row.isBeside, !rows.contains(where: { $0.seq == row.seq }) { rows.append(row) }
        }
      }
      place += 1
    }
    return rows.sorted { ($0.generation, $0.seq) < ($1.generation, $1.seq) }
  }

  /// The last commits on all ways to one that are in the others' history, or have been put on top of it; none for the
  /// empty database.
  ///
  /// Those that come through second parents count too: the others have all that these say, and a number would be added
  /// twice.
  func bases(of row: LogRow, placed: Placed) throws(ChangesetError) -> [LogRow] {
    var (open, seen): ([LogRow], Set<Int64>) = ([row], [row.seq])
    var found: [LogRow] = []
    while let next = open.popLast() {
      guard placed.isOpen(next) else {
        found.append(next)
        continue
      }
      for source in try placed.sources(of: next) where seen.insert(source.seq).inserted {
        open.append(source)
      }
    }
    var last: [LogRow] = []
    for row in found.sorted(by: { ($1.generation, $1.id) < ($0.generation, $0.id) }) {
      let later = try last.filtered { (other) throws(ChangesetError) in
        try work.log.isAncestor(ancestor: row.seq, of: other.seq)
      }
      if later.isEmpty { last.append(row) }
    }
    return last.reversed()
  }

  /// The last commit on the way of first parents that is in the others' history, or that something there stands for; nil for
  /// the empty database.
  func start(of row: LogRow) throws(ChangesetError) -> LogRow? {
    let placed = try Placed(work)
    var next: LogRow? = row
    while let present = next, placed.isOpen(present) {
      next = try present.parent.map { (seq) throws(ChangesetError) in try work.log.row(seq) }
    }
    return next
  }
}
