import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What each commit of a log is to a horizon, and which heads follow from that.
///
/// It depends on the commits that are in the log alone, not on what came before what.
struct HorizonMarks {
  let work: HistoryWork
  let horizon: LogRow

  private struct Row {
    var seq: Int64
    var parents: [Int64]
    var place: Int64
    var id: [UInt8]
    var branch: Int64
    var isEdit: Bool
  }

  private enum Mark { case before, after, beside }

  /// Sets commits aside that are neither before the horizon nor go on from it, and lets branches end where they end now.
  func set() throws(ChangesetError) {
    let before = try work.log.ancestors(of: [horizon.seq])
    let below = try SnapshotRoots(connection: work.connection).below()
    let rows = try rows()
    var marks: [Int64: Mark] = [:]
    for row in rows {
      let isAfter =
        row.seq == horizon.seq
        || !row.parents.isEmpty && row.parents.allSatisfy { marks[$0] == .after }
      let mark: Mark =
        if isAfter {
          .after
        } else if before.contains(row.seq)
          || below.contains(Array(row.id.prefix(ChangesetID.beginningLength)))
        {
          .before
        } else { .beside }
      marks[row.seq] = mark
      try place(row, as: mark)
    }
    let ends = Self.ends(of: rows, counted: try counted(rows, marks))
    try work.heads.replace(ends: ends, horizon: horizon) { marks[$0] == .before }
  }

  /// The commits that branches may end with: those that go on from the horizon, and those that are to be put on top of it.
  private func counted(
    _ rows: [Row],
    _ marks: [Int64: Mark]
  ) throws(ChangesetError) -> Set<Int64> {
    var (own, counted): (Set<Int64>, Set<Int64>) = ([], [])
    // What stands for others is known when all are in their places.
    let covered = try CoveredCommits(work.connection)
    for row in rows {
      if marks[row.seq] == .after { counted.insert(row.seq) }
      // Whoever has made a commit beside the horizon puts it on top; only what goes on from it here is to be put too.
      guard marks[row.seq] == .beside, try isOwn(row, own: own, marks) else { continue }
      own.insert(row.seq)
      if try covered.isDone(work.log.row(row.seq)) == false { counted.insert(row.seq) }
    }
    return counted
  }

  private func rows() throws(ChangesetError) -> [Row] {
    try work.connection.rows(
      "SELECT seq, parent, merged, remote, id, branch, kind FROM changesets_log ORDER BY seq"
    ) { row in
      Row(
        seq: row.integer(0),
        parents: [row.integer(1), row.integer(2)].filter { $0 > 0 },
        place: row.integer(3),
        id: row.bytes(4),
        branch: row.integer(5),
        isEdit: row.integer(6) == Int64(CommitHeader.Kind.edit.rawValue)
      )
    }
  }

  private func place(_ row: Row, as mark: Mark) throws(ChangesetError) {
    let isAside = row.place == LogRow.Place.beside.rawValue
    if mark == .beside, !isAside { try work.log.set(place: .beside, of: row.seq) }
    // An earlier horizon may have had it aside; whether the cloud has it nobody knows.
    if mark != .beside, isAside { try work.log.set(place: .here, of: row.seq) }
  }

  /// Whether a commit beside the horizon was made here, or goes on from one that was.
  private func isOwn(
    _ row: Row,
    own: Set<Int64>,
    _ marks: [Int64: Mark]
  ) throws(ChangesetError) -> Bool {
    if row.place == LogRow.Place.here.rawValue { return true }
    if row.parents.contains(where: { own.contains($0) && marks[$0] == .beside }) { return true }
    guard row.isEdit, let name = try work.changeset(row: work.log.row(row.seq)).replica else {
      return false
    }
    return try ReplicaName(work: work).isOrWas(name)
  }

  /// The commits by branch that no other counted commit of it goes on from.
  private static func ends(of rows: [Row], counted: Set<Int64>) -> [Int64: [Int64]] {
    var ends: [Int64: [Int64]] = [:]
    // The branches of what goes on from a commit.
    var above: [Int64: Set<Int64>] = [:]
    for row in rows.reversed() {
      var branches = above.removeValue(forKey: row.seq) ?? []
      if counted.contains(row.seq), branches.insert(row.branch).inserted {
        ends[row.branch, default: []].append(row.seq)
      }
      for parent in row.parents { above[parent, default: []].formUnion(branches) }
    }
    return ends
  }
}
