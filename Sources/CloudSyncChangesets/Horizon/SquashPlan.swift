import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Decides what can be squashed, and whom that waits for.
struct SquashPlan {
  let work: HistoryWork
  let patience: Int64

  /// What is to be done next.
  enum Step: Sendable {
    case nothing
    /// A snapshot of the commit has to go up.
    case snapshot(LogRow)
    /// These replicas have not seen the commit's snapshot yet.
    case wait(LogRow, replicas: [String])
    /// All have seen it: the history can begin with it.
    case finish(LogRow)
  }

  /// How long a replica counts that nothing is heard of, in milliseconds.
  static let usualPatience: Int64 = 90 * 24 * 3_600 * 1_000

  func next(depth: Int) throws(ChangesetError) -> Step {
    try checkEverythingIsHere()
    let table = try ParentTable(work.connection)
    let least = try Horizon(work.connection)?.row.generation ?? 1
    let zone = ZoneReports(connection: work.connection)
    let last = try lastCommits()
    for known in try zone.snapshots() where known.place.generation > least {
      // Of one that something else has come beside nothing becomes.
      guard let seq = try work.log.number(of: known.place.id), table.isCut(seq) else { continue }
      let row = try work.log.row(seq)
      let done = try zone.reports()
        .filter {
          [$0.reached, $0.horizon].contains { $0.map { !$0.precedes(known.place) } ?? false }
        }
      let formers = try done.flatMap(\.formers) + ReplicaName(work: work).told()
      var missing: [String] = []
      for name in last.keys.sortedByBytes() where !done.contains(where: { $0.replica == name }) {
        if try isGivenUp(name, by: formers) == false { missing.append(name) }
      }
      return missing.isEmpty ? .finish(row) : .wait(row, replicas: missing)
    }
    guard let head = try work.heads.position().seq,
      var start = table.ancestor(of: head, at: depth)
    else { return .nothing }
    for seq in last.values {
      guard let meeting = table.meeting(start, seq) else { return .nothing }
      start = meeting
    }
    guard let seq = table.cut(from: start) else { return .nothing }
    let row = try work.log.row(seq)
    guard row.generation > least, row.isRemote else { return .nothing }
    return .snapshot(row)
  }

  /// Whether nobody has a name any more: several copies of one file had it, and whoever has made the last commits under it
  /// has taken another name, and is heard of under that.
  private func isGivenUp(
    _ name: String,
    by formers: [ReplicaReport.Former]
  ) throws(ChangesetError) -> Bool {
    let told = formers.filter { $0.name.hasSameBytes(as: name) }.flatMap(\.ends)
    if told.isEmpty { return false }
    var commits: [Int64] = []
    for seq in try recentEdits() where try work.isMade(seq, by: name) { commits.append(seq) }
    for seq in try work.log.ends(of: commits) {
      let id = try work.log.row(seq).id
      if !told.contains(id) { return false }
    }
    return true
  }

  /// The last commit of each other replica that was heard of lately, by its name.
  private func lastCommits() throws(ChangesetError) -> [String: Int64] {
    let own = try work.replica()
    var last: [String: Int64] = [:]
    for seq in try recentEdits() {
      let commit = try work.changeset(row: try work.log.row(seq))
      // Who has rebased it nobody knows: it is called by the name of whoever made it first.
      guard commit.originals.isEmpty, let replica = commit.replica else { continue }
      if !replica.hasSameBytes(as: own) { last[replica] = seq }
    }
    return last
  }

  /// The edits of the time in which replicas count, in their order.
  private func recentEdits() throws(ChangesetError) -> [Int64] {
    let oldest = HybridTime.next(after: .zero, now: max(0, work.now - patience))
    return try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE kind = 1 AND remote < 2 AND time >= ?1 ORDER BY seq",
      .integer(oldest.rawValue)
    ) { $0.integer(0) }
  }

  /// Throws if there may be commits that nothing is known of: they might go on from before any cut.
  private func checkEverythingIsHere() throws(ChangesetError) {
    let waiting = try CommitsAside(connection: work.connection).countWaiting()
    let refused = try work.connection.integer(
      "SELECT count(*) FROM changesets_refused WHERE name LIKE 'pack-%'"
    )
    if try Horizon(work.connection) == nil, waiting + (refused ?? 0) > 0 {
      throw ChangesetError(
        .unmerged,
        "commits in the cloud wait for others or cannot be read; “status” tells which, and a history is squashed"
          + " when all of it is here"
      )
    }
  }
}
