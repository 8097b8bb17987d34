import CloudSyncSQLiteSupport

/// Rows of a table that has, or whose columns have, other names now.
///
/// To the cloud these are other fields and other records: what is known of the rows is carried over, and they count as ones
/// that the cloud does not have so.
struct RowRenaming: TransactionPart {
  let transaction: SyncTransaction
  let renaming: SchemaRenaming
  /// The place of the table among the transaction's.
  let place: Int

  private static let pageSize = 1_000

  private var table: RecordTable { tables[place] }

  /// Gives all rows of which something is known their new names.
  func rename() throws(SQLiteError) {
    let rows = CarriedRows(
      transaction: transaction,
      place: place,
      formerColumns: renaming.former.columns,
      renamedColumns: renaming.columns,
      isCaptured: renaming.isTold
    )
    let edited = try renameEdited(by: rows)
    // Clean ones become pending.
    for rowKey in try stored.pending.keys(in: table.id) where !edited.contains(rowKey) {
      try renamePending(rowKey, by: rows)
    }
    try transaction.finish()
    var last: SQLiteValue?
    while true {
      let page = try stored.known.rows(of: table.id, after: last, limit: Self.pageSize)
      for (rowKey, known) in page where !edited.contains(rowKey) {
        try rename(rowKey, known, by: rows)
      }
      try transaction.finish()
      last = page.last?.key
      if page.count < Self.pageSize { return }
    }
  }

  @discardableResult
  private func renamePending(
    _ rowKey: SQLiteValue,
    by rows: CarriedRows
  ) throws(SQLiteError) -> Bool {
    let place = RowKey(table: table.id, key: rowKey)
    guard let state = try stored.pending.state(of: place) else { return false }
    let key = try table.key(rowKey)
    let values = try table.rows(on: connection).values(of: key.values)
    // Its record may have another name.
    if renaming.isOtherTable { try stored.pending.remove(place) }
    try rows.keep(
      state,
      of: key,
      values: values,
      source: .pending,
      isOtherRecord: renaming.isOtherTable
    )
    return true
  }

  private func rename(
    _ rowKey: SQLiteValue,
    _ known: KnownRow,
    by rows: CarriedRows
  ) throws(SQLiteError) {
    let key = try table.key(rowKey)
    let values = try table.rows(on: connection).values(of: key.values)
    guard let state = try rows.state(of: known, key: rowKey, values: values) else { return }
    try rows.keep(
      state,
      of: key,
      values: values,
      source: .known,
      digest: known.digest,
      isOtherRecord: renaming.isOtherTable
    )
  }

  /// Gives rows their new names that were edited since, and reads these edits: what was kept beside the table under a new
  /// name would be written over them else.
  private func renameEdited(by rows: CarriedRows) throws(SQLiteError) -> Set<SQLiteValue> {
    let query =
      try connection.prepare(
        "SELECT key FROM (\(StatusQuery([renaming.present]).unread)) WHERE table_id = ?1"
      )
      .bind(table.id, at: 1)
    let edited = Set(try query.mapRows { $0.value(0) })
    if edited.isEmpty { return [] }
    var rows = rows
    rows.areEdited = true
    for rowKey in edited where try renamePending(rowKey, by: rows) == false {
      if let known = try stored.known.row(RowKey(table: table.id, key: rowKey)) {
        try rename(rowKey, known, by: rows)
      }
    }
    try transaction.readOutbox()
    try transaction.finish()
    return edited
  }
}
