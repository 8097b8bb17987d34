import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Looks at how a database and its history are.
struct HistoryStatus {
  let work: HistoryWork

  func status() throws(ChangesetError) -> ChangesetStatus {
    let position = try work.heads.position()
    var heads: [ChangesetID] = []
    for head in try work.branchHeads.joinable(ofBranch: position.branch) {
      if let id = try work.log.id(seq: head.seq) { heads.append(id) }
    }
    let left = try LeftBehind(work: work).findings()
    return ChangesetStatus(
      head: try work.head(),
      tables: try tables(),
      unpushedCount: try work.log.unpushedCount(),
      heads: heads.sorted(),
      behindCount: try work.heads.beside().count,
      leftBehindCount: left.changesets.count,
      waitingCount: Int(try CommitsAside(connection: work.connection).countWaiting()),
      refused: try refused(without: left.doneRecords),
      parked: try work.parked.all()
        .map { parked in
          .init(
            table: parked.table,
            key: parked.row.key.values.map { FieldValue($0) },
            reason: parked.reason
          )
        },
      untracked: try untracked()
    )
  }

  /// The records that are no use, without those of which nothing is needed any more: what somebody has rebased is kept,
  /// for the next squash may be on another line.
  private func refused(
    without done: Set<String>
  ) throws(ChangesetError) -> [ChangesetStatus.Refused] {
    try work.connection
      .rows("SELECT name, reason FROM changesets_refused ORDER BY name") { row in
        ChangesetStatus.Refused(name: row.text(0) ?? "", reason: row.text(1) ?? "")
      }
      .filter { !done.contains($0.name) }
  }

  private func untracked() throws(ChangesetError) -> [String] {
    let engine = try EngineTablesCheck(connection: work.connection).engineTables()
    // One without a key can be in none.
    return work.tables.schema.tables.filter { !$0.primaryKey.isEmpty }.map(\.name)
      .filter { name in
        work.tables.table(called: name) == nil && !engine.contains { $0.isSameName(as: name) }
      }
      .sortedByBytes()
  }

  private func tables() throws(ChangesetError) -> [ChangesetStatus.Table] {
    try work.uncommitted.changes(at: .zero).tables
      .map { table in
        var counts = ChangesetStatus.Table(name: table.name)
        for row in table.rows {
          switch row.kind {
          case .insert: counts.inserted += 1
          case .update: counts.updated += 1
          case .delete: counts.deleted += 1
          }
        }
        return counts
      }
  }
}
