import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Goes over to the horizon that replicas tell of: what does not go on from it is beside from then on.
///
/// Which commits these are follows from the horizon alone, so all replicas find the same, whatever came first.
struct HorizonAdoption {
  let work: HistoryWork

  private var reports: ZoneReports { ZoneReports(connection: work.connection) }
  private var roots: SnapshotRoots { SnapshotRoots(connection: work.connection) }

  /// Takes the latest horizon up if there is a later one than that of this copy; returns its commit then.
  func run() throws(ChangesetError) -> LogRow? {
    let row = try adopted()
    try bringBackState()
    try reports.dropBytes()
    return row
  }

  private func adopted() throws(ChangesetError) -> LogRow? {
    guard let wanted = try reports.horizon() else { return nil }
    if let present = try Horizon(work.connection)?.row {
      let place = ReplicaReport.Place(id: present.id, generation: present.generation)
      guard place.precedes(wanted) else { return nil }
    }
    if let seq = try work.log.number(of: wanted.id) {
      let row = try work.log.row(seq)
      try take(row: row)
      return row
    }
    guard let known = try reports.snapshots().first(where: { $0.place.id == wanted.id }),
      let bytes = try reports.bytes(of: known)
    else { return nil }
    let snapshot = try reading("a snapshot") { () throws(ByteFault) in try Snapshot(bytes) }
    let row = try install(snapshot: snapshot)
    try take(row: row)
    return row
  }

  /// Makes a commit that is in the log the horizon.
  func take(row: LogRow) throws(ChangesetError) {
    try HorizonMarks(work: work, horizon: row).set()
    try work.info.set(.squashed, .integer(row.seq))
  }

  /// The record of the snapshot that the latest horizon begins with.
  func snapshotName() throws(ChangesetError) -> String? {
    guard let wanted = try reports.horizon() else { return nil }
    return try reports.snapshots().first { $0.place.id == wanted.id }?.name
  }

  // MARK: Snapshots

  /// Lets the horizon begin with its snapshot where everything was fetched again, and changes are missing still that lead
  /// to it: they were removed here, and the cloud has them no more.
  private func bringBackState() throws(ChangesetError) {
    guard try work.info.integer(.refill) != nil, let row = try Horizon(work.connection)?.row,
      let known = try reports.snapshots().first(where: { $0.place.id == row.id }),
      let bytes = try reports.bytes(of: known),
      try work.log.hasChanges(from: nil, to: row.seq) == false
    else { return }
    let snapshot = try reading("a snapshot") { () throws(ByteFault) in try Snapshot(bytes) }
    let commit = try reading("a snapshot") { () throws(ByteFault) in try snapshot.whole() }
    try Fills.keep(delta: commit.changes, work.connection)
    try work.connection.run(
      "UPDATE changesets_log SET parent = NULL, merged = NULL, body = ?2 WHERE seq = ?1",
      .integer(row.seq),
      .blob(snapshot.state)
    )
    try keep(snapshot: snapshot, commit: commit, row: row)
  }

  /// Puts a snapshot's commit into the log, without what was before it.
  private func install(snapshot: Snapshot) throws(ChangesetError) -> LogRow {
    _ = try work.dictionaries.number(for: snapshot.schema)
    try work.dictionaries.keep(declarationsOf: snapshot.schema)
    let commit = try reading("a snapshot") { () throws(ByteFault) in try snapshot.whole() }
    try Fills.keep(delta: commit.changes, work.connection)
    let row = try work.log.append(
      commit,
      id: snapshot.id,
      body: snapshot.state,
      parents: [],
      isRemote: true
    )
    try keep(snapshot: snapshot, commit: commit, row: row)
    try work.heads.add(row.seq, branch: row.branch)
    try work.heads.notice(time: row.time)
    try work.connection.run("DELETE FROM changesets_waiting WHERE id = ?1", .blob(row.id.bytes))
    return row
  }

  /// Keeps what a snapshot tells of a commit of the log besides its state.
  private func keep(
    snapshot: Snapshot,
    commit: Commit,
    row: LogRow
  ) throws(ChangesetError) {
    var fills = Fills()
    for table in commit.changes.tables {
      for fill in table.fills { _ = fills.add(fill, of: table.name) }
    }
    try roots.keep(
      root: .init(
        seq: row.seq,
        head: snapshot.head,
        body: snapshot.body,
        fills: fills,
        below: snapshot.below
      )
    )
    try StateFrames.forget(work.connection)
    try check(row: row, changes: commit.changes)
  }

  private func check(row: LogRow, changes: StateDelta) throws(ChangesetError) {
    let frames = try StateFrames(work.connection)
    let hash = StateHash.zero.adding(
      changes,
      from: try frames.frame(of: nil),
      to: try frames.frame(of: row)
    )
    guard hash == row.stateHash else {
      throw ChangesetError(
        .damaged,
        "the snapshot of commit \(row.id.short) holds other rows than that commit"
      )
    }
  }
}
