import CloudSyncSQLiteSupport

/// Decides what this copy tells the others of squashes, and when: nothing at all while nobody squashes.
struct ReportMaking {
  let work: HistoryWork

  private var zone: ZoneReports { ZoneReports(connection: work.connection) }

  /// The report that is to be sent; nil if there is no news in it.
  func due() throws(ChangesetError) -> ReplicaReport? {
    let horizon = try Horizon(work.connection)?.row
    guard try zone.isThere() || horizon != nil else { return nil }
    let sent = try work.info.bytes(name: .reported)
      .flatMap { bytes in try? ReplicaReport(bytes) }
    var report = ReplicaReport(replica: try work.replica(), reached: sent?.reached)
    report.formers = try ReplicaName(work: work).told()
    report.horizon = horizon.map { .init(id: $0.id, generation: $0.generation) }
    for snapshot in try zone.snapshots() {
      if let known = report.reached, !known.precedes(snapshot.place) { break }
      guard try hasReached(snapshot.place) else { continue }
      report.reached = snapshot.place
      break
    }
    if report.reached != sent?.reached || report.replica != sent?.replica
      || report.formers != sent?.formers ?? [], report.reached != nil
    {
      return report
    }
    // The horizon is told by whoever has made it; by others only if nobody does any more.
    if report.horizon == nil { return nil }
    return try zone.horizon() == report.horizon ? nil : report
  }

  /// Whether everything here goes on from a commit, or is before it.
  private func hasReached(_ place: ReplicaReport.Place) throws(ChangesetError) -> Bool {
    guard let seq = try work.log.number(of: place.id),
      let head = try work.heads.position().seq,
      try work.log.isAncestor(ancestor: seq, of: head)
    else { return false }
    return try ParentTable(work.connection).isCut(seq)
  }
}
