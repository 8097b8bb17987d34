import CloudSyncSQLiteSupport

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
