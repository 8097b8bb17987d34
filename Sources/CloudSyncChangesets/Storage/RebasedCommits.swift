import CloudSyncSQLiteSupport

/// Which commits from before a squash others stand for, that put them on top of it.
///
/// It is a function of the commits of the log, in whatever order they came.
struct RebasedCommits {
  let connection: HistoryConnection

  private var log: CommitLog { CommitLog(connection: connection) }

  /// The table is made with the first such commit.
  private func isThere() throws(ChangesetError) -> Bool {
    try connection.hasTable("changesets_rebased")
  }

  /// Remembers what a commit of the log stands for: that is no head of anybody's any more.
  func note(row: LogRow, header: CommitHeader) throws(ChangesetError) {
    if header.originals.isEmpty { return }
    if try isThere() == false {
      try connection.execute(
        """
        CREATE TABLE main.changesets_rebased(
          original BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(original, seq)) WITHOUT ROWID
        """
      )
    }
    for original in header.originals {
      try connection.run(
        "INSERT OR IGNORE INTO changesets_rebased VALUES(?1, ?2)",
        .blob(original.bytes),
        .integer(row.seq)
      )
    }
    // Whatever it says, what is in the history stays what it is.
    let heads = Heads(connection: connection)
    let beside = try heads.allBeside()
    if beside.isEmpty { return }
    // All that stands for commits is read only where a head may be done with.
    var covered: CoveredCommits?
    for head in beside {
      let row = try log.row(head.seq)
      guard row.branch == head.branch, try mayBeDone(row) else { continue }
      let known = if let covered { covered } else { try CoveredCommits(connection) }
      covered = known
      if try known.isDone(row) { try heads.remove(seq: head.seq, branch: head.branch) }
    }
  }

  /// Whether something stands for a commit, or it stands for others, all of which may be there.
  private func mayBeDone(_ row: LogRow) throws(ChangesetError) -> Bool {
    if try contains(row.id) { return true }
    if try log.isGone(seq: row.seq) { return true }
    return try log.written(row: row).header.originals.isEmpty == false
  }

  func forget() throws(ChangesetError) {
    try connection.execute("DROP TABLE IF EXISTS main.changesets_rebased")
  }

  /// Whether something stands for a commit that is not beside the horizon itself, or for what stands for it.
  func contains(_ id: ChangesetID) throws(ChangesetError) -> Bool {
    guard try isThere() else { return false }
    return try connection.integer(
      """
      WITH RECURSIVE standing(id, remote) AS (
        SELECT ?1, 2
        UNION
        SELECT l.id, l.remote FROM standing s
          JOIN changesets_rebased r ON r.original = s.id JOIN changesets_log l ON l.seq = r.seq
          WHERE s.remote = 2)
      SELECT 1 FROM standing WHERE remote <> 2 LIMIT 1
      """,
      .blob(id.bytes)
    ) != nil
  }

  /// What stands for commits that is not beside the horizon itself: of several the first.
  ///
  /// What was put on top of one squash may be beside the next one, and has something that stands for it then: that
  /// stands for all of it.
  func standing() throws(ChangesetError) -> [ChangesetID: LogRow] {
    var standing: [ChangesetID: LogRow] = [:]
    var beside: [(original: ChangesetID, id: ChangesetID)] = []
    let note = { (original: ChangesetID, row: LogRow) in
      if let known = standing[original], (known.generation, known.id) <= (row.generation, row.id) {
        return false
      }
      standing[original] = row
      return true
    }
    for (original, seq) in try all() {
      let row = try log.row(seq)
      if row.isBeside { beside.append((original, row.id)) } else { _ = note(original, row) }
    }
    // Every step puts an earlier commit in the place of another, so that this ends.
    var hasGrown = !beside.isEmpty
    while hasGrown {
      hasGrown = false
      for (original, id) in beside {
        if let row = standing[id], note(original, row) { hasGrown = true }
      }
    }
    return standing
  }

  /// What commits of the log stand for, by their numbers.
  func originals(of commits: Set<Int64>? = nil) throws(ChangesetError) -> [Int64: Set<ChangesetID>]
  {
    var result: [Int64: Set<ChangesetID>] = [:]
    for (original, seq) in try all() where commits?.contains(seq) != false {
      result[seq, default: []].insert(original)
    }
    return result
  }

  /// The commits that stand for one which another stands for too, by their numbers.
  func doubled() throws(ChangesetError) -> [Int64: Set<ChangesetID>] {
    guard try isThere() else { return [:] }
    let numbers = try connection.rows(
      """
      SELECT DISTINCT seq FROM changesets_rebased WHERE original IN (
        SELECT original FROM changesets_rebased GROUP BY original HAVING count(*) > 1)
      """
    ) { $0.integer(0) }
    return numbers.isEmpty ? [:] : try originals(of: Set(numbers))
  }

  private func all() throws(ChangesetError) -> [(original: ChangesetID, seq: Int64)] {
    guard try isThere() else { return [] }
    return
      try connection.rows("SELECT original, seq FROM changesets_rebased ORDER BY original, seq") {
        (ChangesetID(bytes: $0.bytes(0)), $0.integer(1))
      }
      .compactMap { row in row.0.map { ($0, row.1) } }
  }
}

/// What the others' history has of the commits that do not go on from the horizon.
///
/// A commit is there if another one stands for it, or if the horizon does. One that stands for others itself has nothing of
/// its own to add where all of these are there: only what it was put on may be missing.
struct CoveredCommits {
  let connection: HistoryConnection
  /// What stands for commits: of several the first that goes on from the horizon.
  let standing: [ChangesetID: LogRow]
  /// What commits of the log stand for, by their numbers.
  let originals: [Int64: Set<ChangesetID>]
  /// The beginnings of the identifiers of all that snapshots stand for.
  private let below: Set<[UInt8]>

  private var log: CommitLog { CommitLog(connection: connection) }

  init(_ connection: HistoryConnection) throws(ChangesetError) {
    self.connection = connection
    let rebased = RebasedCommits(connection: connection)
    standing = try rebased.standing()
    originals = try rebased.originals()
    below = try SnapshotRoots(connection: connection).below()
  }

  /// Whether a commit is in the history, or something there stands for it.
  func contains(_ id: ChangesetID) throws(ChangesetError) -> Bool {
    if standing[id] != nil || below.contains(id.beginning) { return true }
    guard let seq = try log.number(of: id) else { return false }
    return try log.row(seq).isBeside == false
  }

  /// Those of the commits that one stands for which the history lacks.
  func missing(of originals: Set<ChangesetID>) throws(ChangesetError) -> [ChangesetID] {
    try originals.sorted().filtered { (id) throws(ChangesetError) in try contains(id) == false }
  }

  /// Whether the history has all that a commit of the log says.
  func isDone(_ row: LogRow) throws(ChangesetError) -> Bool {
    var open = [row]
    while let next = open.popLast() {
      guard next.isBeside, try contains(next.id) == false else { continue }
      guard let originals = originals[next.seq], try missing(of: originals).isEmpty else {
        return false
      }
      for parent in next.parents { open.append(try log.row(parent)) }
    }
    return true
  }
}
