import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What a page of the zone holds for a history, read before the database is asked for.
struct ZonePage: Sendable {
  private typealias Content = (name: String, bytes: Result<[UInt8], AssetFailure>)

  private let packs: [Content]
  private let snapshots: [Content]
  private let reports: [Content]
  private let deleted: [String]

  init(_ page: FetchOperation.Response, assets: AssetFolder?) {
    self.init(page.changedRecords, deleted: page.deletedRecordIDs, assets: assets)
  }

  init(_ all: [Record], deleted: [RecordID] = [], assets: AssetFolder?) {
    let records = { (type: String) in
      all.filter { $0.recordType == type }
        .map { ($0.recordID.name, PackRecord.bytes(of: $0, assets: assets)) }
    }
    packs = records(PackRecord.type)
    snapshots = records(Snapshot.recordType)
    reports = records(ReplicaReport.recordType)
    self.deleted = deleted.map(\.name)
  }

  /// Stores it, and gives what became of the packs.
  func taken(by work: HistoryWork) throws(ChangesetError) -> TakenPacks {
    var taken = TakenPacks()
    for (name, content) in packs {
      taken.add(try PackIntake(work: work).take(name: name, content), name: name)
    }
    let zone = ZoneReports(connection: work.connection)
    for (name, content) in reports {
      // What a later version writes in another form tells this one nothing.
      guard case .success(let bytes) = content, let report = try? ReplicaReport(bytes) else {
        continue
      }
      try zone.keep(report: report, name: name)
    }
    for (name, content) in snapshots { try take(snapshot: content, name: name, work) }
    for name in deleted { try zone.forget(name: name) }
    return taken
  }

  private func take(
    snapshot content: Result<[UInt8], AssetFailure>,
    name: String,
    _ work: HistoryWork
  ) throws(ChangesetError) {
    let intake = PackIntake(work: work)
    let bytes: [UInt8]
    switch content {
    case .success(let found): bytes = found
    case .failure(let failure):
      return try intake.refuse(name: name, because: failure.reason, bytes: nil)
    }
    let snapshot: Snapshot
    do throws(ByteFault) {
      guard Snapshot.name(of: bytes) == name else {
        throw ByteFault("its bytes are not those that its name says")
      }
      snapshot = try Snapshot(bytes)
    } catch { return try intake.refuse(name: name, because: error.reason, bytes: nil) }
    let place = ReplicaReport.Place(id: snapshot.id, generation: snapshot.header.generation)
    try ZoneReports(connection: work.connection)
      .keep(snapshot: .init(name: name, place: place), bytes: bytes)
    try intake.forget(name: name)
  }
}
