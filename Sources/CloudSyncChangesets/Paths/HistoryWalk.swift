import CloudSyncSQLiteSchema

/// Walks through a history, children before parents.
struct HistoryWalk {
  let work: HistoryWork

  func log(query: LogQuery) throws(ChangesetError) -> [Changeset] {
    var result: [Changeset] = []
    if let table = query.table { try check(table: table) }
    if query.count == 0 { return result }
    let key = try query.key.map { (key) throws(ChangesetError) in RowKey(try key.columns()) }
    var steps = HistorySteps(log: work.log)
    for seq in try starts(query: query) { try steps.add(seq) }
    while let row = try steps.next() {
      if try isMeant(row: row, table: query.table, key: key) {
        result.append(try work.changeset(row: row))
        if result.count == query.count { break }
      }
    }
    return result
  }

  /// Throws if no commit can be about a table: a name that is mistyped has no history, and is no reason for silence.
  private func check(table: String) throws(ChangesetError) {
    if work.tables.table(called: table) != nil { return }
    // One that was dropped has its commits.
    let known = try work.dictionaries.schemas()
      .contains { $0.tables.contains { $0.name.isSameName(as: table) } }
    if !known { throw ChangesetError(.misuse, "there is no table “\(table)” in the history") }
  }

  /// All commits that one is made of, with it.
  func steps(from seq: Int64?) throws(ChangesetError) -> HistorySteps {
    var steps = HistorySteps(log: work.log)
    if let seq { try steps.add(seq) }
    return steps
  }

  private func starts(query: LogQuery) throws(ChangesetError) -> [Int64] {
    if query.isOfAllBranches { return try work.branchHeads.heads().map(\.seq) }
    if let name = query.branch {
      guard let branch = try work.dictionaries.number(ofName: name) else {
        throw ChangesetError(.noSuchBranch, "there is no branch “\(name)”")
      }
      return try work.branchHeads.heads(ofBranch: branch).map(\.seq)
    }
    return try RevisionSearch(work: work).number(revision: query.revision ?? .head).map { [$0] }
      ?? []
  }

  private func isMeant(
    row: LogRow,
    table: String?,
    key: RowKey?
  ) throws(ChangesetError) -> Bool {
    guard let table else { return true }
    // Nobody can tell what a commit has changed whose changes were removed.
    guard try work.log.body(seq: row.seq) != nil else { return false }
    let changes = try work.log.commit(row).changes
    guard let change = changes.tables.first(where: { $0.name.isSameName(as: table) }) else {
      return false
    }
    guard let key else { return !change.fills.isEmpty || change.rows.contains(where: \.isChange) }
    return change.row(key)?.isChange == true
  }
}

/// The commits that a walk comes to, one by one.
struct HistorySteps {
  private let log: CommitLog
  private var rows: [LogRow] = []
  private var seen: Set<Int64> = []

  init(log: CommitLog) { self.log = log }

  mutating func add(_ seq: Int64) throws(ChangesetError) {
    guard seen.insert(seq).inserted else { return }
    let row = try log.row(seq)
    // Most commits are younger than all that wait.
    var place = rows.endIndex
    while place > 0, Self.follows(one: row, rows[place - 1]) { place -= 1 }
    rows.insert(row, at: place)
  }

  /// The youngest: none of its children can come later.
  mutating func next() throws(ChangesetError) -> LogRow? {
    guard let row = rows.popLast() else { return nil }
    for parent in row.parents { try add(parent) }
    return row
  }

  /// Whether a commit comes after another in the walk.
  private static func follows(one: LogRow, _ other: LogRow) -> Bool {
    if one.generation != other.generation { return one.generation < other.generation }
    if one.time != other.time { return one.time < other.time }
    return one.id < other.id
  }
}
