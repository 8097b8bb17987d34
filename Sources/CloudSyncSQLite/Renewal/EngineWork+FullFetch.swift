import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whether a fetch of everything is of the zone that was known, or of one that was made anew in its
/// place.
///
/// Records of a new zone are younger than all that pages of the old one have ever brought. So the
/// zone is known if a known record comes, or is told to be deleted, that is as old as it was and no
/// younger than those.
struct ZoneEvidence {
  /// When the youngest record was created that pages had brought before this fetch.
  let newest: Timestamp?
  private(set) var isKnownZone = false

  /// Takes that a record came as it was known.
  mutating func consider(knownSince then: Timestamp?) {
    if let then, let newest, then <= newest { isKnownZone = true }
  }

  mutating func consider(_ row: RowState, _ record: Record? = nil) {
    guard !isKnownZone, !row.isVoid, let known = row.server else { return }
    guard let then = known.creationDate else { return isKnownZone = true }
    if let now = record?.creationDate, now != then { return }
    isKnownZone = newest.map { then <= $0 } ?? false
  }
}

extension EngineWork.Tally {
  /// Counts a record that has come as it was known.
  func noteKnown(_ record: Record) {
    known += 1
    guard let then = record.creationDate else { return }
    oldestKnown = min(oldestKnown ?? then, then)
  }
}

extension RowState {
  /// Whether a record was made anew under the name of the one that was known.
  ///
  /// In a zone that was made anew it may be older than what was known.
  func isOfOtherRecord(than record: Record) -> Bool {
    guard let then = server?.creationDate, let now = record.creationDate else { return false }
    return then != now
  }
}

extension EngineWork {
  /// Takes the end of a fetch.
  ///
  /// After a fetch of everything, what was in no page is gone. But if nothing at all came that was
  /// known, neither a record nor a deletion, then the zone is not the one that was known: somebody
  /// has deleted it and made it anew. Its records are not gone because their owners wanted it, so
  /// they are uploaded again.
  func endFetch(ofEverything: Bool) throws(SQLiteError) {
    if ofEverything {
      let isKnownZone = try store.isKnownZone()
      for name in try store.unseenNames() {
        guard let row = try row(named: name) else { continue }
        if isKnownZone { try takeDeletion(of: row) } else { try sendAgain(row) }
      }
      try store.endStrangers(isKnownZone: isKnownZone)
      try store.forgetSeen()
      try store.releaseVoid()
      try store.setInfo("rebuild", nil)
      try store.endNewest()
    }
    // The cloud did not have them when they were sent, and the fetch has said nothing else.
    for name in try store.namesOfMissing() {
      if let row = try row(named: name) { try takeDeletion(of: row) }
    }
  }

  /// Has a row sent again, whole.
  private func sendAgain(_ row: RowState) throws(SQLiteError) {
    var row = row
    if row.payload == nil, row.shelf == nil { row.waitsFor = nil }
    row.mark(void: 2)
    try store.save(row)
  }
}

extension RowVersion {
  /// The row with the columns that another version of it has and this one does not know.
  func completed(by other: RowVersion?) -> RowVersion {
    guard let other else { return self }
    let missing = other.columns.filter { self[$0.name] == nil }
    return RowVersion(
      columns: missing + columns,
      createdAt: createdAt,
      deletedAt: deletedAt,
      unknownFields: unknownFields
    )
  }
}

extension MetadataStore {
  /// Notes that a fetch of everything begins with a page, the next one if none is given.
  ///
  /// Rows that are new since then are known by their page; of others that have been seen their names
  /// are noted.
  func beginFullFetch(_ page: Int64? = nil) throws(SQLiteError) {
    try forgetSeen()
    let last = try lastPage()
    try setFact("first_page", .integer(page ?? last + 1))
    try setFact("known_zone", nil)
    try setFact("newest_seen", nil)
  }

  /// Notes that a fetch of everything has brought something that was known.
  func noteKnownZone() throws(SQLiteError) { try setFact("known_zone", .integer(1)) }

  fileprivate func isKnownZone() throws(SQLiteError) -> Bool { try fact("known_zone") != nil }

  func zoneEvidence() throws(SQLiteError) -> ZoneEvidence {
    ZoneEvidence(newest: try fact("newest")?.integer.map { Timestamp(nanoseconds: $0) })
  }

  /// Notes how young the youngest record of a page is; those of a fetch of everything count in its end.
  func noteNewest(of page: FetchOperation.Response) throws(SQLiteError) {
    let key = page.startedOver ? "newest_seen" : "newest"
    let times = page.changedRecords.compactMap(\.creationDate?.nanoseconds)
    guard var newest = times.max() else { return }
    if let known = try fact(key)?.integer { newest = max(newest, known) }
    try setFact(key, .integer(newest))
  }

  fileprivate func endNewest() throws(SQLiteError) {
    if let newest = try fact("newest_seen") { try setFact("newest", newest) }
    try setFact("newest_seen", nil)
  }

  fileprivate func forgetSeen() throws(SQLiteError) {
    try connection.execute("DELETE FROM cloudsync_seen")
  }

  func markSeen(_ name: String) throws(SQLiteError) {
    try connection.fixedStatement("INSERT OR IGNORE INTO cloudsync_seen VALUES(?1)")
      .bind(name, at: 1).run()
  }

  /// The rows that the cloud did not have when they were sent.
  fileprivate func namesOfMissing() throws(SQLiteError) -> [String] {
    let query = try connection.fixedStatement(
      """
      SELECT record_name FROM cloudsync_rows WHERE waits_for = '?' AND void IS NULL
      ORDER BY record_name
      """
    )
    var names: [String] = []
    try query.forEachRow { if let name = query.text(0) { names.append(name) } }
    return names
  }

  /// Lets go what waited for a fetch of everything to look for it.
  fileprivate func releaseVoid() throws(SQLiteError) {
    try connection.execute(
      """
      UPDATE cloudsync_rows SET waits_for = nullif(waits_for, '?'), void = 2 WHERE void = 1
      """
    )
  }
}
