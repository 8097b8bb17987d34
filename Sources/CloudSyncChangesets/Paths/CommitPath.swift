import CloudSyncSQLiteSupport
import CloudSyncSQLite

/// The way from one state to another in the tree of first parents: up to where they part, then down.
struct CommitPath: Sendable {
  /// The commits that are taken back, the latest first.
  var up: [LogRow]
  /// The commits that are done, the earliest first.
  var down: [LogRow]

  /// Finds the way; nil stands for the empty database.
  init(from start: Int64?, to end: Int64?, in log: CommitLog) throws(ChangesetError) {
    (up, down) = ([], [])
    var (one, other) = (try Self.row(seq: start, log), try Self.row(seq: end, log))
    // Generations fall on the way up: whatever is younger cannot be above the other.
    while one?.seq != other?.seq {
      if let row = one, row.generation >= (other?.generation ?? 0) {
        up.append(row)
        one = try Self.row(seq: row.parent, log)
      } else if let row = other {
        down.append(row)
        other = try Self.row(seq: row.parent, log)
      }
    }
    down.reverse()
  }

  private static func row(seq: Int64?, _ log: CommitLog) throws(ChangesetError) -> LogRow? {
    guard let seq else { return nil }
    return try log.row(seq)
  }
}

/// Puts the changes of a way together.
private struct PathFold {
  /// Whether migrations are on the way.
  let migrates: Bool
  private(set) var all = DeltaFold()
  /// The same with what is taken back older than everything, where that makes a difference: a value that a migration makes
  /// anew where another one's was taken back is nobody's edit.
  private var edits: DeltaFold?

  init(migrates: Bool) { self.migrates = migrates }

  /// Adds changes that take others back.
  mutating func takeBack(_ changes: StateDelta) throws(ByteFault) {
    try all.add(changes)
    if !migrates || changes.isEmpty || HistoryMutant.recomputedIsEdited.isPresent { return }
    var edits = edits ?? DeltaFold()
    try edits.add(changes.written(at: .zero))
    self.edits = edits
  }

  /// Adds changes that are done.
  mutating func add(_ changes: StateDelta, isMigration: Bool) throws(ByteFault) {
    let changes = isMigration ? (edits ?? all).migrated(changes) : changes
    try all.add(changes)
    try edits?.add(changes)
  }
}

extension CommitLog {
  /// The net changes from one state to another, and of what led to the first.
  ///
  /// What is taken back on the way up counts as written at the end's time, what a migration has made on the way down as new
  /// as what it was made of.
  func changes(
    after former: StateDelta = StateDelta(),
    from start: Int64?,
    to end: Int64?,
    as names: PresentNames = PresentNames()
  ) throws(ChangesetError) -> StateDelta {
    let upgrade = try SchemaUpgrade(connection, to: schema, names: names)
    let path = try CommitPath(from: start, to: end, in: self)
    let last = try end.map { (seq) throws(ChangesetError) in try row(seq) }
    if former.isEmpty, path.up.isEmpty, path.down.count == 1, path.down[0].kind != .migration {
      return try commit(path.down[0], upgrade: upgrade).changes
    }
    var fold = PathFold(migrates: path.down.contains { $0.kind == .migration })
    try reading("the base of a merge") { () throws(ByteFault) in try fold.takeBack(former) }
    for row in path.up {
      let changes = try commit(row, upgrade: upgrade).changes.inverted(at: last?.time ?? .zero)
      try reading("commit \(row.id.short)") { () throws(ByteFault) in try fold.takeBack(changes) }
    }
    for row in path.down {
      let changes = try commit(row, upgrade: upgrade).changes
      try reading("commit \(row.id.short)") { () throws(ByteFault) in
        try fold.add(changes, isMigration: row.kind == .migration)
      }
    }
    return fold.all.result
  }

  /// Whether all changes are here between two states: none were removed.
  func hasChanges(from start: Int64?, to end: Int64?) throws(ChangesetError) -> Bool {
    let path = try CommitPath(from: start, to: end, in: self)
    for row in path.up + path.down where try isGone(seq: row.seq) { return false }
    return true
  }

  /// Those of some commits, in their order, that no other of them goes on from.
  func ends(of commits: [Int64]) throws(ChangesetError) -> [Int64] {
    var ends = Set(commits)
    for seq in commits.reversed() where ends.contains(seq) {
      ends.subtract(try ancestors(of: [seq]).subtracting([seq]))
    }
    return ends.sorted()
  }

  /// Some commits and all that they descend from.
  func ancestors(of commits: [Int64]) throws(ChangesetError) -> Set<Int64> {
    let starts = commits.map { "(\($0))" }.joined(separator: ", ")
    if starts.isEmpty { return [] }
    return Set(
      try connection.rows(
        """
        WITH RECURSIVE found(seq) AS (
          VALUES \(starts)
          UNION SELECT CASE side.number WHEN 0 THEN l.parent ELSE l.merged END
          FROM found JOIN changesets_log l ON l.seq = found.seq
          JOIN (SELECT 0 AS number UNION ALL SELECT 1) side)
        SELECT seq FROM found WHERE seq > 0
        """
      ) { $0.integer(0) }
    )
  }

  /// Whether a commit is another one, or comes before it.
  func isAncestor(ancestor: Int64?, of seq: Int64) throws(ChangesetError) -> Bool {
    guard let ancestor else { return true }
    if ancestor == seq { return true }
    let least = try row(ancestor).generation
    var frontier = [seq]
    var seen: Set<Int64> = [seq]
    while let next = frontier.popLast() {
      let row = try row(next)
      guard row.generation > least else { continue }
      for parent in row.parents where seen.insert(parent).inserted {
        if parent == ancestor { return true }
        frontier.append(parent)
      }
    }
    return false
  }
}
