import CloudSyncCore
import CloudSyncSQLiteSupport

/// A row whose record is larger than any may be.
struct OversizedRow: TransactionPart {
  let transaction: SyncTransaction
  let sent: SentRow
  /// How many bytes a record may have.
  let limit: Int

  private var table: RecordTable { tables[sent.table] }

  /// The column that makes the record so large, if it is one that is in no file: what is in others may be.
  var reason: String? {
    guard let largest = sent.record.fields.max(by: { $0.byteCount < $1.byteCount }),
      let column = table.format.columns.first(where: { column in
        column.all.contains { UTF8Bytes.equal($0, largest.name) }
      }), table.isCompared(column.column)
    else { return nil }
    let name = "\(table.name.quotedName).\(column.column.quotedName)"
    return
      "\(name) has \(largest.byteCount) of them, and a value of a key is in no asset: shorten it"
  }

  /// Forgets the row if it is deleted and no record has room for its key: nobody can have heard of it, and nobody has to.
  ///
  /// - Returns: Whether it is forgotten.
  /// - Throws: SQLite's reason.
  func forgetIfDeleted() throws(SQLiteError) -> Bool {
    let key = table.format.key.map { table.format.columns[$0.place] }
    let keyBytes = sent.record.fields
      .filter { field in
        key.contains { column in column.all.contains { UTF8Bytes.equal($0, field.name) } }
      }
      .reduce(0) { $0 + $1.byteCount }
    var row = try row(sent.key, in: sent.table)
    guard keyBytes > limit, row.state.cloud == .absent, row.values == nil,
      row.state.placement == .inTable, row.isDeleted
    else { return false }
    row.state = RecordState()
    keep(row)
    return true
  }
}
