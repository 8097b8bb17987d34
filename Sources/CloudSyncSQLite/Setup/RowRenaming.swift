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
      renamedColumns: renaming.columns
    )
    // Clean ones become pending.
    for rowKey in try stored.pending.keys(in: table.id) {
      guard let state = try stored.pending.state(of: RowKey(table: table.id, key: rowKey)) else {
        continue
      }
      let key = try table.key(rowKey)
      let values = try table.rows(on: connection).values(of: key.values)
      // Its record may have another name.
      if renaming.isOtherTable {
        try stored.pending.remove(RowKey(table: table.id, key: rowKey))
      }
      rows.keep(
        state,
        of: key,
        values: values,
        source: .pending,
        isOtherRecord: renaming.isOtherTable
      )
    }
    try transaction.finish()
    var last: SQLiteValue?
    while true {
      let page = try stored.known.rows(of: table.id, after: last, limit: Self.pageSize)
      for (rowKey, known) in page {
        let key = try table.key(rowKey)
        let values = try table.rows(on: connection).values(of: key.values)
        guard let state = try rows.state(of: known, key: rowKey, values: values) else { continue }
        rows.keep(
          state,
          of: key,
          values: values,
          source: .known,
          isOtherRecord: renaming.isOtherTable
        )
      }
      try transaction.finish()
      last = page.last?.key
      if page.count < Self.pageSize { return }
    }
  }
}
