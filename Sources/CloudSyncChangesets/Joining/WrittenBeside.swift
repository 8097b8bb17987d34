import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds what others have written beside a commit, and what has given way to it where both were merged.
///
/// Who takes the commit back does not take that back: it counts as if the commit had never been made.
struct WrittenBeside {
  let work: HistoryWork
  let merges: MergeWork

  /// What others bring to the state before a commit, in rows that the commit has changed.
  ///
  /// - Parameters:
  ///   - row: The commit.
  ///   - parent: The state before it.
  ///   - head: The commit that all is looked for in which HEAD is made of.
  /// - Returns: For each row the latest of all that they wrote.
  /// - Throws: That the history is damaged, or lacks changes.
  func changes(
    beside row: LogRow,
    parent: ChangesetID,
    within head: LogRow
  ) throws(ChangesetError) -> StateDelta {
    let joined = try merges(of: row, within: head)
    // What is known without a look at the whole history: most commits that are undone were never merged.
    if joined.isEmpty { return StateDelta() }
    let changed = try work.log.changes(from: try work.log.number(of: parent), to: row.seq)
    var seen = try work.log.ancestors(of: [row.seq])
    var found = StateDelta()
    for (own, other) in joined
    where try touches(rows: changed, from: other, besides: &seen) {
      let brought = try merges.changes(
        from: try work.log.row(other).id,
        mergedWith: try work.log.row(own).id,
        to: parent
      )
      found.takeLatest(of: brought, in: changed)
    }
    return found
  }

  /// The merges of what has a commit with what lacks it, the earliest first.
  private func merges(
    of row: LogRow,
    within head: LogRow
  ) throws(ChangesetError) -> [(own: Int64, other: Int64)] {
    var later: [LogRow] = []
    var walk = try HistoryWalk(work: work).steps(from: head.seq)
    while let next = try walk.next(), next.generation > row.generation { later.append(next) }
    var having: Set<Int64> = [row.seq]
    var found: [(own: Int64, other: Int64)] = []
    for commit in later.reversed() {
      let own = commit.parents.filter { having.contains($0) }
      guard let first = own.first else { continue }
      having.insert(commit.seq)
      if own.count == 1, let other = commit.parents.first(where: { $0 != first }) {
        found.append((first, other))
      }
    }
    return found
  }

  /// Whether a commit, or one that it descends from and that was not seen yet, has changed some rows.
  ///
  /// Those whose changes were removed from this copy nobody can ask.
  private func touches(
    rows changed: StateDelta,
    from start: Int64,
    besides seen: inout Set<Int64>
  ) throws(ChangesetError) -> Bool {
    var touches = false
    var waiting = [start]
    while let seq = waiting.popLast() {
      guard seen.insert(seq).inserted else { continue }
      let row = try work.log.row(seq)
      waiting += row.parents
      guard try work.log.body(seq: seq) != nil else { return false }
      if !touches, row.kind != .merge {
        touches = try work.log.commit(row).changes.sharesRows(with: changed)
      }
    }
    return touches
  }
}

extension StateDelta {
  /// Whether both have a change of one row.
  fileprivate func sharesRows(with other: StateDelta) -> Bool {
    tables.contains { table in
      guard let rows = other.table(table.name)?.rows else { return false }
      return rows.contains { table.row($0.key) != nil }
    }
  }

  /// Adds the changes of rows that another delta has, and of two of one cell the later.
  fileprivate mutating func takeLatest(of brought: StateDelta, in changed: StateDelta) {
    for table in brought.tables {
      guard let rows = changed.table(table.name) else { continue }
      let place =
        tables.firstIndex { $0.name.hasSameBytes(as: table.name) } ?? tables.endIndex
      if place == tables.endIndex { tables.append(TableDelta(table.name, rows: [])) }
      for row in table.rows where rows.row(row.key) != nil { tables[place].takeLatest(of: row) }
    }
  }
}

extension TableDelta {
  fileprivate mutating func takeLatest(of row: RowDelta) {
    guard let place = rows.firstIndex(where: { $0.key == row.key }) else {
      rows.append(row)
      return rows.sort { $0.key < $1.key }
    }
    let present = rows[place]
    guard present.kind == .update, row.kind == .update else {
      // A row that comes or goes is one value.
      if present.time < row.time { rows[place] = row }
      return
    }
    var latest: [String: CellDelta] = [:]
    for cell in present.cells + row.cells
    where latest[cell.column].map({ $0.time < cell.time }) ?? true {
      latest[cell.column] = cell
    }
    let cells = latest.keys.sortedByBytes().compactMap { latest[$0] }
    if let merged = RowDelta(updating: row.key, cells: cells) { rows[place] = merged }
  }
}
