/// What commits beside the horizon are on top of it.
struct Placed {
  let covered: CoveredCommits
  private let log: CommitLog
  /// By number; none for what the horizon has.
  private var rows: [Int64: [LogRow]] = [:]

  init(_ work: HistoryWork) throws(ChangesetError) {
    covered = try CoveredCommits(work.connection)
    log = work.log
    for (id, row) in covered.standing {
      if let seq = try log.number(of: id) { rows[seq] = [row] }
    }
  }

  subscript(seq: Int64) -> [LogRow]? { rows[seq] }

  /// Whether a commit is not in the others' history yet.
  func isOpen(_ row: LogRow) -> Bool { row.isBeside && rows[row.seq] == nil }

  /// Takes a commit as not put on top.
  mutating func remove(_ row: LogRow) { rows[row.seq] = nil }

  mutating func add(_ made: [LogRow], for row: LogRow) { rows[row.seq] = made }

  /// The commits that one goes on from, and those that it stands for: all that these have it has.
  func sources(of row: LogRow) throws(ChangesetError) -> [LogRow] {
    var rows = try row.parents.map { (seq) throws(ChangesetError) in try log.row(seq) }
    for id in covered.originals[row.seq]?.sorted() ?? [] {
      if let seq = try log.number(of: id) { rows.append(try log.row(seq)) }
    }
    return rows
  }

  /// What a commit stands for that is not in the others' history yet.
  func missing(of row: LogRow) throws(ChangesetError) -> [ChangesetID] {
    try covered.missing(of: covered.originals[row.seq] ?? [])
      .filtered { (id) throws(ChangesetError) in
        guard let seq = try log.number(of: id) else { return true }
        return rows[seq] == nil
      }
  }

  /// Takes a commit as put on top that stands for others, where all of these are there, and what it goes on from: it has
  /// nothing of its own to add.
  mutating func take(doubled row: LogRow) throws(ChangesetError) -> Bool {
    guard let originals = covered.originals[row.seq], try missing(of: row).isEmpty else {
      return false
    }
    var made: [LogRow] = []
    for source in try sources(of: row) {
      if isOpen(source) { return false }
      made += rows[source.seq] ?? []
    }
    made += originals.sorted().compactMap { covered.standing[$0] }
    rows[row.seq] = made
    return true
  }
}
