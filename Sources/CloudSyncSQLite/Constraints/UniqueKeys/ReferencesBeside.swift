import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What rows beside their tables refer to: no index of SQLite's finds that.
struct ReferencesBeside {
  private struct Reference: Hashable {
    /// The number of the foreign key among all.
    let link: Int
    let values: [SQLiteValue]
  }

  private var rows: [Reference: Set<RowKey>] = [:]

  init(_ transaction: SyncTransaction) throws(SQLiteError) {
    let pending = PendingRows(connection: transaction.connection)
    for key in try pending.besideTables() where transaction.rows[key] == nil {
      if let row = try transaction.row(key) { add(row, transaction.tables) }
    }
    for row in transaction.rows.values where row.values == nil { add(row, transaction.tables) }
  }

  /// Notes what a row refers to as it is to be.
  mutating func add(_ row: LoadedRow, _ tables: SyncTables) {
    guard let version = row.state.row, row.values == nil else { return }
    for (number, link) in tables.links.enumerated() where link.child == row.place {
      guard let values = version.storedValues(of: link.columns) else { continue }
      rows[Reference(link: number, values: tables.compared(values, link)), default: []]
        .insert(row.rowKey)
    }
  }

  /// The rows that refer, or have referred, to values by a foreign key of a number.
  func rows(referringBy link: Int, to values: [SQLiteValue], _ tables: SyncTables) -> Set<RowKey> {
    rows[Reference(link: link, values: tables.compared(values, tables.links[link]))] ?? []
  }
}

extension SyncTables {
  /// Values that a foreign key refers to, in the one spelling that stands for all equal ones.
  func compared(_ values: [SQLiteValue], _ link: TableLink) -> [SQLiteValue] {
    link.refersToKey ? self[link.parent].format.key(spelled: values).values : values
  }

  /// Whether a row as it is to be refers to values by a foreign key.
  func refers(_ version: RecordVersion, by link: TableLink, to values: [SQLiteValue]) -> Bool {
    guard let own = version.storedValues(of: link.columns) else { return false }
    return compared(own, link) == compared(values, link)
  }
}
