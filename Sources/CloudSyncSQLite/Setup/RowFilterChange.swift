import CloudSyncCore
import CloudSyncSQLiteSupport

/// Tables whose condition of the rows that are sent is another one than it was.
struct RowFilterChange {
  let connection: SQLiteConnection
  let tables: SyncTables
  /// Their places.
  let places: [Int]

  /// Compares conditions.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - tables: The tables as they are to be synchronized.
  ///   - registered: The tables as they were.
  init(connection: SQLiteConnection, tables: SyncTables, registered: [RegisteredTable]) {
    self.connection = connection
    self.tables = tables
    places = tables.inOrder.indices.filter { place in
      guard let former = registered.first(where: { $0.id == tables[place].id }) else {
        return false
      }
      return !UTF8Bytes.equal(former.filter, tables[place].captured.filter)
    }
  }

  /// Asks again which rows are sent.
  func askAgain() throws(SQLiteError) {
    if places.isEmpty { return }
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    try transaction.readOutbox()
    try RowFiltering(transaction: transaction).askAgain(in: places)
    try transaction.finish()
  }
}
