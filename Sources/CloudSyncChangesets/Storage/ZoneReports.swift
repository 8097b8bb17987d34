import CloudSyncSQLiteSupport

/// What a zone tells of squashes: the reports of replicas, and snapshots.
struct ZoneReports {
  let connection: HistoryConnection

  /// A snapshot in the zone.
  struct Known: Sendable, Hashable {
    var name: String
    var place: ReplicaReport.Place
  }

  /// The tables are made with the first entry.
  func isThere() throws(ChangesetError) -> Bool {
    try connection.hasTable("changesets_reports")
  }

  private func make() throws(ChangesetError) {
    if try isThere() { return }
    try connection.execute(
      """
      CREATE TABLE main.changesets_reports(name TEXT PRIMARY KEY NOT NULL, bytes BLOB) WITHOUT ROWID;
      CREATE TABLE main.changesets_snapshots(
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, id BLOB, generation INTEGER, bytes BLOB);
      """
    )
  }

  /// Forgets what was told: the zone is not the one that told it.
  func forget() throws(ChangesetError) {
    try connection.execute(
      "DROP TABLE IF EXISTS main.changesets_reports; DROP TABLE IF EXISTS main.changesets_snapshots"
    )
  }

  // MARK: Reports

  func keep(report: ReplicaReport, name: String) throws(ChangesetError) {
    try make()
    try connection.run(
      "REPLACE INTO changesets_reports VALUES(?1, ?2)",
      .text(name),
      .blob(report.bytes)
    )
  }

  func reports() throws(ChangesetError) -> [ReplicaReport] {
    guard try isThere() else { return [] }
    return try connection.rows("SELECT bytes FROM changesets_reports ORDER BY name") { $0.bytes(0) }
      .map { (bytes) throws(ChangesetError) in
        try reading("what a replica has told") { () throws(ByteFault) in try ReplicaReport(bytes) }
      }
  }

  /// The latest horizon that anybody tells of; nil if nobody does.
  func horizon() throws(ChangesetError) -> ReplicaReport.Place? {
    try reports().compactMap(\.horizon).max { $0.precedes($1) }
  }

  // MARK: Snapshots

  /// Keeps what is known of a snapshot, with its bytes where they may be needed.
  func keep(snapshot: Known, bytes: [UInt8]?) throws(ChangesetError) {
    try make()
    try connection.run(
      "REPLACE INTO changesets_snapshots(name, id, generation, bytes) VALUES(?1, ?2, ?3, ?4)",
      .text(snapshot.name),
      .blob(snapshot.place.id.bytes),
      .integer(snapshot.place.generation),
      bytes.map { .blob($0) } ?? .null
    )
  }

  /// The snapshots, the latest first.
  func snapshots() throws(ChangesetError) -> [Known] {
    guard try isThere() else { return [] }
    return
      try connection.rows("SELECT name, id, generation FROM changesets_snapshots") {
        (name: $0.text(0) ?? "", id: ChangesetID(bytes: $0.bytes(1)), generation: $0.integer(2))
      }
      .compactMap { row in
        row.id.map { Known(name: row.name, place: .init(id: $0, generation: row.generation)) }
      }
      .sorted { $1.place.precedes($0.place) }
  }

  func bytes(of snapshot: Known) throws(ChangesetError) -> [UInt8]? {
    let bytes = try connection.row(
      "SELECT bytes FROM changesets_snapshots WHERE name = ?1",
      .text(snapshot.name)
    ) { $0.isNull(0) ? nil : $0.bytes(0) }
    return bytes ?? nil
  }

  /// Forgets the bytes: what they bring is in the log.
  func dropBytes() throws(ChangesetError) {
    guard try isThere() else { return }
    try connection.run(
      "UPDATE changesets_snapshots SET bytes = NULL WHERE bytes IS NOT NULL AND id IN (SELECT id FROM changesets_log)"
    )
  }

  /// Forgets a record that is not in the zone any more.
  func forget(name: String) throws(ChangesetError) {
    guard try isThere() else { return }
    try connection.run("DELETE FROM changesets_reports WHERE name = ?1", .text(name))
    try connection.run("DELETE FROM changesets_snapshots WHERE name = ?1", .text(name))
  }
}

extension ReplicaReport.Place {
  /// Whether another one counts if both are told of: the later one, on every replica.
  func precedes(_ other: Self) -> Bool {
    generation != other.generation ? generation < other.generation : id < other.id
  }
}
