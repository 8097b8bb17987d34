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
      // One that got another key has got another number with it.
      let table = tables[place]
      guard
        let former = registered.first(where: { $0.id == table.id })
          ?? registered.first(where: { $0.name.isSameName(as: table.name) })
      else { return false }
      return !UTF8Bytes.equal(former.filter, table.captured.filter)
    }
  }

  /// Asks again which rows are sent, where the answer may be another one.
  ///
  /// - Parameter isNewSchema: Whether the schema is another one: rows may have stayed here for others to which they refer
  ///   no more, or that have other names now.
  /// - Throws: SQLite's reason.
  func askAgain(isNewSchema: Bool) throws(SQLiteError) {
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    let filtering = RowFiltering(transaction: transaction)
    let held = try PendingRows(connection: connection).filteredTables()
    let isOutdated = isNewSchema && !held.isEmpty
    guard isOutdated ? true : try filtering.isDecidedOtherwise() else { return }
    try transaction.readOutbox()
    try filtering.takeOver(isOutdated: isOutdated)
    try transaction.finish()
  }
}
