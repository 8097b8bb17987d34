import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends commits to the zone.
struct Pushing {
  let remote: ChangesetRemote
  /// The most bytes of one file: clouds take 50 MB.
  var largestFile = 40_000_000

  private var repository: ChangesetRepository { remote.repository }

  func push() async throws(ChangesetError) -> [Changeset] {
    try checkKeys()
    var pushed: [Changeset] = []
    while let next = try nextPack() {
      if HistoryMutant.watermarkFirst.isPresent { _ = try note(pack: next) }
      try await save(bytes: next.pack.bytes)
      pushed += try note(pack: next)
    }
    if let next = try tagPack() {
      try await save(bytes: next.pack.bytes)
      _ = try note(pack: next)
    }
    try await sendSnapshot()
    try await sendReport()
    let lacks = try repository.read { (work) throws(ChangesetError) in
      try GoneChanges(connection: work.connection).isAnyUnsent()
    }
    if lacks { throw Self.lacksChanges }
    if case .behind = try repository.standing() { throw ChangesetError.behindHorizon }
    return pushed
  }

  private static let lacksChanges = ChangesetError(
    .historyTooShort,
    "the cloud lacks old commits whose changes were removed from this copy; another copy has to send them,"
      + " or reset the history to send the rows anew"
  )

  // MARK: Squashes

  /// Sends the state that the history begins with, if the zone lacks it.
  private func sendSnapshot() async throws(ChangesetError) {
    let snapshot = try repository.read { (work) throws(ChangesetError) -> Snapshot? in
      guard let row = try Horizon(work.connection)?.row else { return nil }
      let known = try ZoneReports(connection: work.connection).snapshots()
      if known.contains(where: { $0.place.id == row.id }) { return nil }
      do throws(ChangesetError) { return try SnapshotMaking(work: work).snapshot(of: row) } catch {
        throw error.code == .historyTooShort ? Self.lacksChanges : error
      }
    }
    if let snapshot { try await send(snapshot: snapshot) }
  }

  /// Sends a snapshot, and notes that the zone has it.
  func send(snapshot: Snapshot) async throws(ChangesetError) {
    let bytes = snapshot.bytes
    let name = Snapshot.name(of: bytes)
    try await save(bytes: bytes, type: Snapshot.recordType, name: name)
    let place = ReplicaReport.Place(id: snapshot.id, generation: snapshot.header.generation)
    try repository.write { (work) throws(ChangesetError) in
      try ZoneReports(connection: work.connection)
        .keep(snapshot: .init(name: name, place: place), bytes: nil)
    }
  }

  /// Tells the others what this copy has reached, if a squash has news of it.
  private func sendReport() async throws(ChangesetError) {
    let report = try repository.read { (work) throws(ChangesetError) in
      try ReportMaking(work: work).due()
    }
    guard let report else { return }
    let name = ReplicaReport.recordName(of: report.replica)
    try await save(bytes: report.bytes, type: ReplicaReport.recordType, name: name)
    try repository.write { (work) throws(ChangesetError) in
      try ZoneReports(connection: work.connection).keep(report: report, name: name)
      try work.info.set(.reported, .blob(report.bytes))
    }
  }

  /// A pack on its way.
  private struct NextPack {
    var pack: Pack
    /// The commits in it.
    var numbers: [Int64]
    /// Which cloud it is for: another one has come since if the history knows of a later.
    var era: Int64?
  }

  private func nextPack() throws(ChangesetError) -> NextPack? {
    try repository.read { (work) throws(ChangesetError) in
      let builder = PackBuilder(work: work)
      let last = try work.info.integer(.pushed) ?? 0
      guard var next = try builder.next(after: last) else { return nil }
      next.pack.tags = try builder.tags()
      return NextPack(pack: next.pack, numbers: next.numbers, era: try work.info.integer(.era))
    }
  }

  private func tagPack() throws(ChangesetError) -> NextPack? {
    try repository.read { (work) throws(ChangesetError) in
      var pack = Pack()
      pack.tags = try PackBuilder(work: work).tags()
      if pack.tags.isEmpty { return nil }
      return NextPack(pack: pack, numbers: [], era: try work.info.integer(.era))
    }
  }

  private func save(
    bytes: [UInt8],
    type: String = PackRecord.type,
    name: String? = nil
  ) async throws(ChangesetError) {
    let record = try record(bytes: bytes, type: type, name: name ?? Pack.name(of: bytes))
    let operation = ModifyOperation(records: [record])
    let response = try await remote.calls.run { done in
      do { return try self.remote.session.modify(operation, completion: done) } catch {
        done(.failure(SyncError(.invalidRecord, "\(error)")))
        return .unassigned
      }
    }
    if let failure = response.failures.first { throw ChangesetError(failure.error) }
  }

  private func record(
    bytes: [UInt8],
    type: String,
    name: String
  ) throws(ChangesetError) -> Record {
    var record = Record(
      recordType: type,
      recordID: RecordID(name: name, zoneID: remote.zoneID)
    )
    if bytes.count <= PackBuilder.mostBytes + 50_000 {
      record["data"] = .data(Data(bytes))
      if repository.options.encrypts { record.encryptedKeys = ["data"] }
      return record
    }
    guard let folder = remote.assets else {
      throw ChangesetError(
        .tooLarge,
        "\(type == PackRecord.type ? "a commit" : "a snapshot") has \(bytes.count / 1_000) kB, and over 650 it"
          + " travels as a file; give the remote AssetOptions"
      )
    }
    // Never in the field of small packs: a cloud's schema gives a field one type.
    let size = min(largestFile, bytes.count)
    for (number, start) in stride(from: 0, to: bytes.count, by: size).enumerated() {
      let part = Array(bytes[start..<min(start + size, bytes.count)])
      record[PackRecord.part(number)] = .asset(try asset(of: part, in: folder))
    }
    return record
  }

  private func asset(of bytes: [UInt8], in folder: AssetFolder) throws(ChangesetError) -> Asset {
    let asset = folder.asset(of: bytes)
    do throws(SQLiteError) { try folder.write(bytes, as: asset) } catch {
      throw ChangesetError(error)
    }
    return asset
  }

  /// Notes that the cloud has the commits and tags of a pack, unless it was lost meanwhile.
  private func note(pack: NextPack) throws(ChangesetError) -> [Changeset] {
    try repository.write { (work) throws(ChangesetError) in
      guard try work.info.integer(.era) == pack.era else { return [] }
      try remote.history.store(in: work)
      var changesets: [Changeset] = []
      for seq in pack.numbers {
        try work.log.setRemote(seq: seq)
        changesets.append(try work.changeset(row: try work.log.row(seq)))
      }
      if let last = pack.numbers.last { try work.info.set(.pushed, .integer(last)) }
      let own = pack.pack.schemas.first { $0.id == work.tables.id && !$0.declarations.isEmpty }
      if let own { try work.info.set(.declared, .blob(PackBuilder.digest(of: own))) }
      for tag in pack.pack.tags {
        try work.connection.run(
          "UPDATE changesets_tags SET remote = 1 WHERE kind = ?1 AND name = ?2 AND time = ?3",
          .integer(tag.kind.rawValue),
          .text(tag.name),
          .integer(tag.time.rawValue)
        )
      }
      return changesets
    }
  }

  /// Integers that SQLite gives are given by every replica to rows of its own, and so may values be of computed keys.
  private func checkKeys() throws(ChangesetError) {
    if let reason = try repository.computedKeyReason() { throw ChangesetError(.schema, reason) }
    guard let table = try repository.tablesWithIntegerKeys().first else { return }
    throw ChangesetError(
      .schema,
      "table “\(table)” has an integer key, which two copies would both give to rows of their own; migrate it to"
        + " UUID keys, or declare in the options that its keys are unique"
    )
  }

  func delete(names: [String]) async throws(ChangesetError) {
    for start in stride(from: 0, to: names.count, by: 200) {
      let ids = names[start..<min(start + 200, names.count)]
        .map { RecordID(name: $0, zoneID: remote.zoneID) }
      let operation = ModifyOperation(recordIDsToDelete: ids)
      let response = try await remote.calls.run { done in
        do { return try self.remote.session.modify(operation, completion: done) } catch {
          done(.failure(SyncError(.invalidRecord, "\(error)")))
          return .unassigned
        }
      }
      // Another may have deleted them before.
      let failure = response.failures.first { $0.error.code != .unknownItem }
      if let failure { throw ChangesetError(failure.error) }
    }
  }
}

extension ChangesetRepository {
  /// How many rows merges have lost something of.
  func conflictCount(of merges: [Changeset]) throws(ChangesetError) -> Int {
    try read { (work) throws(ChangesetError) in
      var count = 0
      for merge in merges {
        guard let seq = try work.log.number(of: merge.id) else { continue }
        count += try work.log.commit(try work.log.row(seq)).conflicts.count
      }
      return count
    }
  }
}
