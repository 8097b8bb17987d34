import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Does what an engine would do, within a transaction that is undone, and notes what it was.
struct PreviewWork {
  let work: EngineWork
  let limits: RequestLimits

  /// An operation that no session has.
  private static let operation = Int64.max

  func run(
    _ pages: [FetchOperation.Response],
    _ begun: SyncPreview
  ) throws(SQLiteError) -> SyncPreview {
    var preview = begun
    try work.outbox.readAll()
    try work.adoptStrangers()
    preview.sent = try inFlight()
    let refused = try send(&preview)
    for page in pages { try apply(page, &preview) }
    let reading = MetadataReading(connection: work.connection)
    preview.refused = try refusals(reading.held("coalesce(r.error_code, r.shelf_code) IS NOT NULL"))
    preview.refused += refused.filter { one in
      !preview.refused.contains { $0.recordName == one.recordName }
    }
    preview.waiting = try refusals(
      reading.held("coalesce(r.error_code, r.shelf_code) IS NULL AND r.waits_for IS NOT NULL")
    )
    preview.unknownRecords = Int(
      try work.connection.integer("SELECT count(*) FROM cloudsync_strangers")
    )
    return preview
  }

  private func refusals(_ held: [SyncMetadata.HeldRecord]) -> [SyncPreview.Refusal] {
    held.map { one in
      let reason =
        switch one.status {
        case .parked(_, let reason): reason
        case .waiting(let name): "it needs \(name), which is not here"
        case .clean, .dirty, .inFlight: one.status.name
        }
      return SyncPreview.Refusal(
        table: one.table,
        key: one.key,
        recordName: one.recordName,
        reason: reason
      )
    }
  }

  // MARK: Sending

  /// What is on its way already: it would be sent again, or its answer would come.
  private func inFlight() throws(SQLiteError) -> [SyncPreview.Change] {
    var changes: [SyncPreview.Change] = []
    for row in try work.store.rowsInFlight() {
      if let change = change(row, row.isDeleted ? .delete : edit(of: row, nil)) {
        changes.append(change)
      }
    }
    return changes
  }

  /// Makes all batches that would be sent, and undoes that; returns what would be refused.
  private func send(_ preview: inout SyncPreview) throws(SQLiteError) -> [SyncPreview.Refusal] {
    try work.connection.execute("SAVEPOINT cloudsync_preview")
    while let batch = try work.makeBatch(limits) {
      var records: [String: Record] = [:]
      for record in batch.operation.records { records[record.recordID.name] = record }
      for row in batch.rows {
        let record = records[row.recordName]
        let action = record.map { edit(of: row, $0) } ?? .delete
        if let change = change(row, action) { preview.sent.append(change) }
      }
      try work.markSent(batch, Self.operation)
    }
    let held = try MetadataReading(connection: work.connection)
      .held("coalesce(r.error_code, r.shelf_code) IS NOT NULL")
    try work.connection.execute("ROLLBACK TO cloudsync_preview; RELEASE cloudsync_preview")
    return refusals(held)
  }

  private func edit(of row: RowState, _ record: Record?) -> SyncPreview.Action {
    if row.server == nil { return .insert }
    if let record, let version = record.rowVersion {
      return .update(columns: version.columns.map(\.name))
    }
    return .update(columns: row.edits.compactMap(\.column))
  }

  private func change(_ row: RowState, _ action: SyncPreview.Action) -> SyncPreview.Change? {
    guard let table = work.tables.byID[row.table] else { return nil }
    return SyncPreview.Change(
      table: table.name,
      key: RowKeyText.text(of: row.key, recordName: row.recordName),
      recordName: row.recordName,
      action: action
    )
  }

  // MARK: Applying

  /// The row that a record is of, as it was before a page.
  private struct Former {
    var row: RowState
    var table: SyncTable
    var key: [SQLiteValue]
    var values: [SQLiteValue]?
  }

  /// Applies a page, and notes which of its rows became different.
  private func apply(
    _ page: FetchOperation.Response,
    _ preview: inout SyncPreview
  ) throws(SQLiteError) {
    var before: [Former] = []
    for record in page.changedRecords {
      guard let one = try work.incoming(record) else { continue }
      before.append(try former(one.row, one.table, one.key))
    }
    for name in page.deletedRecordIDs.map(\.name) + (try unseen(page)) {
      guard let row = try work.row(named: name), let table = work.tables.byID[row.table]
      else { continue }
      before.append(try former(row, table, try table.keyValues(of: row.key, in: work.connection)))
    }
    try work.apply(page)
    for former in before {
      let values = try work.rows(of: former.table).values(of: former.key)
      guard let action = action(former, values), let change = change(former.row, action) else {
        continue
      }
      preview.applied.append(change)
    }
  }

  private func former(
    _ row: RowState,
    _ table: SyncTable,
    _ key: [SQLiteValue]
  ) throws(SQLiteError) -> Former {
    let values = try work.rows(of: table).values(of: key)
    return Former(row: row, table: table, key: key, values: values)
  }

  /// What a fetch of everything has not brought when its last page has come.
  private func unseen(_ page: FetchOperation.Response) throws(SQLiteError) -> [String] {
    guard page.isLast, page.startedOver else { return [] }
    let here = Set(page.changedRecords.map(\.recordID.name))
    // Those of the last page are not marked yet; of a run of one page nothing is.
    if page.isBeginning { try work.store.beginFullFetch(Int64(page.page.number)) }
    return try work.store.unseenNames().filter { !here.contains($0) }
  }

  private func action(_ former: Former, _ values: [SQLiteValue]?) -> SyncPreview.Action? {
    guard let values else { return former.values == nil ? nil : .delete }
    guard let old = former.values else { return .insert }
    let columns = former.table.schema.writableColumns
    let changed = zip(columns, zip(old, values)).filter { $1.0 != $1.1 }.map(\.0.name)
    return changed.isEmpty ? nil : .update(columns: changed)
  }
}
