import CloudSyncCore
import CloudSyncSQLiteSupport

/// Edits that are to be submitted together.
struct SendBatch: Sendable {
  var operation: ModifyOperation
  /// The rows that it carries.
  var rows: [RowState]

  var rowsByName: [String: RowState] {
    Dictionary(rows.map { ($0.recordName, $0) }) { first, _ in first }
  }
}

extension EngineWork {
  /// The edits to submit next; nil if there are none.
  ///
  /// Within a request's limits: an operation is then one request, if nothing goes wrong.
  ///
  /// - Parameters:
  ///   - limits: The limits.
  ///   - isSetAside: Whether the session has set a former edit of a record aside, into which it merges
  ///     the next one, even if the row that it was of is gone.
  /// - Returns: The edits.
  /// - Throws: SQLite's reason.
  func makeBatch(
    _ limits: RequestLimits,
    isSetAside: (RecordID) -> Bool = { _ in false }
  ) throws(SQLiteError) -> SendBatch? {
    while true {
      let candidates = try store.sendableRows(limit: limits.items)
      if candidates.isEmpty { return nil }
      var rows: [RowState] = []
      var records: [Record] = []
      var deletions: [RecordID] = []
      var bytes = 0
      for candidate in candidates {
        let mayFollow = candidate.sentPage != nil || isSetAside(recordID(candidate.recordName))
        guard let edit = try edit(of: candidate, mayFollow: mayFollow) else { continue }
        guard let size = try size(of: edit.record, edit.row) else { continue }
        bytes += size
        if bytes > limits.bytes, !rows.isEmpty { break }
        rows.append(edit.row)
        if let record = edit.record {
          records.append(record)
        } else {
          deletions.append(recordID(edit.row.recordName))
        }
      }
      // What had nothing to send is settled: perhaps there is more.
      if rows.isEmpty { continue }
      let operation = ModifyOperation(records: records, recordIDsToDelete: deletions)
      return SendBatch(operation: operation, rows: rows)
    }
  }

  /// How many bytes an edit counts; nil, and the row is set aside, if it breaks a rule of the cloud's.
  private func size(of record: Record?, _ row: RowState) throws(SQLiteError) -> Int? {
    guard let record else { return row.recordName.utf8.count }
    do throws(RecordRuleViolation) {
      return try RecordRules.checkedByteCount(of: record, zone: zoneID)
    } catch {
      var row = row
      row.errorCode = Int64(SyncError.Code.invalidArguments.rawValue)
      row.error = error.description
      tally.counts.parked += 1
      try store.save(row)
      return nil
    }
  }

  /// What to send of a row: a record, or nothing for a deletion; nil if there is nothing to be sent.
  private func edit(
    of candidate: RowState,
    mayFollow: Bool
  ) throws(SQLiteError) -> (row: RowState, record: Record?)? {
    guard let table = tables.byID[candidate.table] else {
      // Its table is synchronized no more: others may miss it all the same.
      if candidate.isVoid, !candidate.isDeleted, let record = candidate.server {
        return (candidate, record.withChangeTag(nil))
      }
      try settle(candidate)
      return nil
    }
    var row = candidate
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    let isThere = values != nil || row.shelf != nil
    if !isThere, !row.isDeleted {
      // It went without a trigger, as a row does that INSERT OR REPLACE replaces.
      row.edits = []
      row.deletedAt = try now()
      try store.save(row)
    }
    if !mayFollow, let values, let record = newRecord(row, values, table) {
      return (row, try withAssets(record, of: row, values))
    }
    let server = row.server?.rowVersion
    var local = version(of: row, table, values: values, server: server)
    var sent = values
    if row.shelf != nil { (local, sent) = travelling(local, table) }
    let isNew = isNewLife(local, after: server, table)
    let recordID = recordID(row.recordName)
    guard let present = row.server, !row.isVoid else {
      if isThere {
        var bare = row
        // Whatever files a cloud had that is gone, they are sent again.
        if row.isVoid { bare.server = nil }
        let version = whole(row.isVoid && !isNew ? local.completed(by: server) : local, row)
        let record = signed(
          table.layout.record(version, recordID: recordID, mayFollow: mayFollow)
        )
        return (row, try withAssets(record, of: bare, sent))
      }
      // A save that the session has set aside would make it again, or others have sent what they have.
      if row.sentPage != nil || row.isVoid { return (row, nil) }
      try store.remove(row)
      return nil
    }
    // Where edits win a deletion is a mark in the record.
    let isMarked = options.table(table.name).merging.deletes == .editWins
    if !isThere, !isMarked { return (row, nil) }
    let edited = local.columns.filter { column in
      // What was there before anybody captured it stands behind everything that the cloud knows.
      if column.time == .zero, !isNew, server?[column.name] != nil { return false }
      return row.editTime(of: column.name) != nil
    }
    if edited.isEmpty, local.createdAt == server?.createdAt, local.deletedAt == server?.deletedAt {
      try settle(row)
      return nil
    }
    let record = table.layout.edit(
      columns: edited,
      endedColumns: isNew ? server?.columns(missingFrom: local) ?? [] : [],
      createdAt: local.createdAt,
      deletedAt: local.deletedAt,
      of: present,
      recordID: recordID,
      mayFollow: mayFollow
    )
    return (row, try withAssets(signed(record), of: row, sent))
  }

  /// The record of a row that was made and not edited since, as most are of a first upload.
  private func newRecord(
    _ row: RowState,
    _ values: [SQLiteValue],
    _ table: SyncTable
  ) -> Record? {
    guard row.server == nil, row.shelf == nil, row.former == nil, row.edits.count == 1,
      row.edits[0].column == nil
    else { return nil }
    let new = RecordLayout.NewRow(
      editedAt: row.edits[0].time,
      createdAt: row.createdAt,
      deletedAt: row.deletedAt,
      writer: tables.writer
    )
    let recordID = recordID(row.recordName)
    return table.layout.newRecord(values, new, recordID: recordID, transport.fieldValue)
  }

  /// The record with the number of this database: another one's of the same values and times is not
  /// taken for it.
  private func signed(_ record: Record) -> Record {
    var record = record
    record[RecordLayout.writerField] = .int64(tables.writer)
    return record
  }

  /// The clock's next time.
  func now() throws(SQLiteError) -> HybridTime {
    try connection.execute(
      "UPDATE cloudsync_clock SET last = \(MetadataSchema.nextTime)"
    )
    return HybridTime(rawValue: try connection.integer("SELECT last FROM cloudsync_clock"))
  }

  /// Notes that there is nothing to send of a row.
  private func settle(_ row: RowState) throws(SQLiteError) {
    var row = row
    row.settle()
    try store.save(row)
  }

  /// Notes which operation carries the rows.
  func markSent(_ batch: SendBatch, _ operation: Int64) throws(SQLiteError) {
    let page = try store.lastPage()
    for row in batch.rows { try store.markSent(row, operation: operation, page: page) }
  }

  /// Sends again what an operation carried that was given up.
  func giveUp(_ operation: Int64) throws(SQLiteError) {
    try release(operation)
    try store.releaseStrangers(of: operation)
  }

  /// Sends again the rows that an operation carried and that its answer has not told of.
  func release(_ operation: Int64) throws(SQLiteError) {
    let told = try store.takePayloads(of: operation)
    for row in try store.rows(of: operation) {
      var row = row
      row.operation = nil
      try keep(row)
    }
    try applyLater(told)
  }

  /// Saves what is known of a row; forgets it where it is gone, here and in the cloud, and was kept
  /// only for the operation that carried it.
  func keep(_ row: RowState) throws(SQLiteError) {
    let isGone =
      row.server == nil && row.dirty == nil && row.operation == nil && row.waitsFor == nil
      && row.errorCode == nil && row.payload == nil
    if isGone { try store.remove(row) } else { try store.save(row) }
  }

  /// Makes the rows agree with the operations that a restored session has.
  ///
  /// - Parameters:
  ///   - operations: Those that it will go on with.
  ///   - ended: Those that have ended, and whose ends it will announce, perhaps once more.
  ///   - parked: The records that it has set aside.
  /// - Throws: SQLite's reason.
  func reconcile(
    _ operations: [(Int64, ModifyOperation)],
    ended: [Int64],
    parked: [RecordID]
  ) throws(SQLiteError) {
    try outbox.readAll()
    try adoptStrangers()
    try adoptWaiting()
    try retryShelved(all: true)
    try store.reconcileStrangers(operations.map(\.0))
    var carried: [String: Int64] = [:]
    for (number, operation) in operations {
      for record in operation.records { carried[record.recordID.name] = number }
      for recordID in operation.recordIDsToDelete { carried[recordID.name] = number }
    }
    var told: [Record] = []
    for row in try store.rowsInFlight() where carried[row.recordName] != row.operation {
      // What has become of it is about to be told.
      if let operation = row.operation, ended.contains(operation) { continue }
      var row = row
      row.operation = nil
      if let payload = row.payload, !row.isHeld {
        told.append(payload)
        row.payload = nil
      }
      try keep(row)
    }
    for (number, operation) in operations {
      let names = operation.records.map(\.recordID.name) + operation.recordIDsToDelete.map(\.name)
      for name in names {
        guard var row = try row(named: name), row.operation != number else { continue }
        row.operation = number
        try store.save(row)
      }
    }
    try applyLater(told)
    for recordID in parked {
      // Of a table that is synchronized no more nothing is known.
      guard let name = RecordName.parse(recordID.name), tables.table(named: name.table) != nil,
        try row(named: recordID.name) == nil
      else { continue }
      tally.gone.append(recordID)
    }
  }
}
