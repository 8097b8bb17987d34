import CloudSyncCore
import CloudSyncSQLiteSupport

/// Records that this database cannot show: of tables that it does not have, and of rows that wait
/// for others.
///
/// When their zone is lost they are uploaded again as they are, or nobody would have them any more.
extension EngineWork {
  /// The records to upload again next; nil if there are none.
  func makeStrangerBatch(_ limits: RequestLimits) throws(SQLiteError) -> ModifyOperation? {
    var records: [Record] = []
    var bytes = 0
    for record in try store.lostStrangers(limit: limits.items) {
      bytes += record.byteCount
      if bytes > limits.bytes, !records.isEmpty { break }
      records.append(record.withChangeTag(nil))
    }
    if records.isEmpty { return nil }
    return ModifyOperation(records: records)
  }

  /// Notes which operation carries the records.
  func markSent(_ operation: ModifyOperation, as number: Int64) throws(SQLiteError) {
    for record in operation.records {
      if var row = try row(named: record.recordID.name) {
        row.operation = number
        try store.save(row)
      } else {
        try store.markSent(record.recordID.name, operation: number)
      }
    }
  }

  /// Takes that a stranger was refused; returns whether the session can forget it.
  ///
  /// What the session keeps to send again is no other operation's.
  func strangerFailed(_ recordID: RecordID, _ error: SyncError) throws(SQLiteError) -> Bool {
    // A page may have brought it meanwhile.
    guard try store.lostStranger(named: recordID.name) != nil else { return true }
    guard error.code == .awaitsAppEdit, let server = error.serverRecord else { return false }
    // Somebody else has uploaded it meanwhile.
    try store.keepStranger(server)
    return true
  }

  /// Takes what became of a stranger that the session had set aside; returns whether the session can
  /// forget it.
  func takeStranger(_ change: ParkedChange) throws(SQLiteError) -> Bool {
    switch change {
    case .saved(let record), .alreadyInCloud(let record): try store.strangerIsSaved(record)
    case .deleted(let recordID): try store.forgetStranger(recordID.name)
    case .refused(let recordID, let error): return try strangerFailed(recordID, error)
    case .dropped: break
    }
    return false
  }

  /// What waits here for another row is in the cloud again.
  func savedWaiting(_ row: RowState, _ record: Record) throws(SQLiteError) {
    var row = row
    row.payload = row.payload?.applying(record).withChangeTag(record.changeTag)
    row.void = nil
    if row.edits.isEmpty, row.createdAt == nil, row.deletedAt == nil { row.dirty = nil }
    try store.save(row)
  }
}

extension MetadataStore {
  func keepStranger(_ record: Record, error: String? = nil) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      REPLACE INTO cloudsync_strangers(record_name, record_type, record, error)
      VALUES(?1, ?2, ?3, ?4)
      """
    )
    .bind(error.map { .text($0) } ?? .null, at: 4)
    .bind(record.recordID.name, at: 1).bind(record.recordType, at: 2)
    .bind(record.codedBytes, at: 3).run()
  }

  func forgetStranger(_ name: String) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_strangers WHERE record_name = ?1")
      .bind(name, at: 1).run()
  }

  /// The records of a table that was unknown when they came; they are here no more then.
  func takeStrangers(
    ofType type: String
  ) throws(SQLiteError) -> [(record: Record, void: Int64?)] {
    let query =
      try connection.prepare(
        "SELECT record, void FROM cloudsync_strangers WHERE record_type = ?1 ORDER BY record_name"
      )
      .bind(type, at: 1)
    var records: [(record: Record, void: Int64?)] = []
    try query.forEachRow { () throws(SQLiteError) in
      records.append((try Self.record(query), query.isNull(1) ? nil : query.integer(1)))
    }
    try connection.prepare("DELETE FROM cloudsync_strangers WHERE record_type = ?1")
      .bind(type, at: 1).run()
    return records
  }

  private static func record(_ query: SQLiteStatement) throws(SQLiteError) -> Record {
    do throws(CodedError) { return try Record(codedBytes: query.bytes(0)) } catch {
      throw SQLiteError(code: 11, message: "a record in cloudsync_strangers is damaged: \(error)")
    }
  }

  /// A stranger that is to be uploaded again, or is on its way.
  fileprivate func lostStranger(named name: String) throws(SQLiteError) -> Record? {
    let query =
      try connection.fixedStatement(
        "SELECT record FROM cloudsync_strangers WHERE record_name = ?1 AND void IS NOT NULL"
      )
      .bind(name, at: 1)
    defer { query.reset() }
    return try query.step() ? Self.record(query) : nil
  }

  /// Notes which operation carries a stranger.
  fileprivate func markSent(_ name: String, operation: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_strangers SET operation = ?2 WHERE record_name = ?1"
    )
    .bind(name, at: 1).bind(operation, at: 2).run()
  }

  /// What is to be uploaded again as it is, in the order of the names.
  fileprivate func lostStrangers(limit: Int) throws(SQLiteError) -> [Record] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record, record_name AS name FROM cloudsync_strangers
        WHERE void = 2 AND operation IS NULL
        UNION ALL
        SELECT payload, record_name FROM cloudsync_rows
        WHERE void = 2 AND payload IS NOT NULL AND operation IS NULL
        ORDER BY name LIMIT ?1
        """
      )
      .bind(Int64(limit), at: 1)
    var records: [Record] = []
    try query.forEachRow { () throws(SQLiteError) in records.append(try Self.record(query)) }
    return records
  }

  /// Takes that a stranger is in the cloud.
  func strangerIsSaved(_ record: Record) throws(SQLiteError) {
    guard let sent = try lostStranger(named: record.recordID.name) else { return }
    try keepStranger(sent.applying(record).withChangeTag(record.changeTag))
  }

  /// Takes the end of a fetch of everything: what was in no page is gone, or its zone is.
  func endStrangers(isKnownZone: Bool) throws(SQLiteError) {
    let isUnseen = """
      NOT EXISTS(
        SELECT 1 FROM cloudsync_seen s WHERE s.record_name = cloudsync_strangers.record_name
      )
      """
    try connection.execute(
      isKnownZone
        ? "DELETE FROM cloudsync_strangers WHERE void IS NULL AND \(isUnseen)"
        : "UPDATE cloudsync_strangers SET void = 2 WHERE void IS NULL AND \(isUnseen)"
    )
    try connection.execute("UPDATE cloudsync_strangers SET void = 2 WHERE void = 1")
  }

  /// Has what an operation carried uploaded again.
  func releaseStrangers(of operation: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_strangers SET operation = NULL WHERE operation = ?1"
    )
    .bind(operation, at: 1).run()
  }

  /// Has what no operation of these carries uploaded again.
  func reconcileStrangers(_ operations: [Int64]) throws(SQLiteError) {
    let list = operations.map(String.init).joined(separator: ", ")
    try connection.execute(
      """
      UPDATE cloudsync_strangers SET operation = NULL
      WHERE operation IS NOT NULL AND operation NOT IN (\(list))
      """
    )
  }
}
