import CloudSyncCore
import CloudSyncSQLiteSupport

/// The columns that rows take along to another key because their table does not have them.
///
/// A newer version of the app knows them. An edit that was captured tells of the table's columns alone, and the record
/// of the former key becomes a tombstone.
struct CarriedColumns {
  private var columns: [RowKey: [ColumnEdit]] = [:]

  /// Follows rows from key to key.
  ///
  /// - Parameters:
  ///   - ends: The rows that were deleted or got another key, in the order in which that was done.
  ///   - transaction: The transaction, in which nothing has happened to them yet.
  /// - Throws: SQLite's reason.
  init(of ends: [CapturedEnd], in transaction: SyncTransaction) throws(SQLiteError) {
    if ends.allSatisfy({ $0.successor == nil }) { return }
    for end in ends {
      guard let place = transaction.tables.place(ofID: end.table) else { continue }
      let table = transaction.tables[place]
      let row = try transaction.row(spelled: end.key, in: place)
      let known = columns.updateValue([], forKey: row.rowKey)
      guard let successor = end.successor else { continue }
      let key = table.format.key(spelled: successor)
      let own = row.isDeleted(by: table.rules) ? [] : row.state.row?.columns(missingIn: table) ?? []
      columns[RowKey(table: table.id, key: table.rowKey(key))] =
        known ?? own.map { ColumnEdit(name: $0.name, value: $0.value) }
    }
  }

  /// Gives a row that was made under its key what it had under its former one, as set by the same edit.
  func add(to row: inout CapturedRow, in table: RecordTable) {
    if columns.isEmpty { return }
    let key = RowKey(
      table: table.id,
      key: table.rowKey(table.format.key(spelled: row.key))
    )
    guard let carried = columns[key], !carried.isEmpty,
      let last = row.edits.lastIndex(where: { if case .inserted = $0 { true } else { false } }),
      case .inserted(let own, let time) = row.edits[last]
    else { return }
    row.edits[last] = .inserted(own + carried, at: time)
  }
}
