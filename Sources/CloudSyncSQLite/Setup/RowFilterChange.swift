import CloudSyncCore
import CloudSyncSQLiteSupport

/// Tables whose condition of the rows that are sent is another one than it was.
struct RowFilterChange {
  let connection: SQLiteConnection
  let tables: SyncTables
  /// Their places.
  let places: [Int]
  /// Whether they are other tables than those that were synchronized last.
  private let areOtherTables: Bool

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
    areOtherTables =
      Set(registered.filter(\.isSynchronized).map(\.id)) != Set(tables.inOrder.map(\.id))
  }

  /// Asks again which rows are sent, where the answer may be another one.
  ///
  /// - Parameter isNewSchema: Whether the schema is another one: rows may have stayed here for others to which they refer
  ///   no more, or that have other names now.
  /// - Throws: SQLite's reason.
  func askAgain(isNewSchema: Bool) throws(SQLiteError) {
    if places.isEmpty {
      let isOther = isNewSchema || areOtherTables
      let held = try PendingRows(connection: connection).filteredTables()
        .compactMap { tables.place(ofID: $0) }
      guard held.contains(where: { isOther || !tables.mayFilterRows(of: $0) }) else { return }
    }
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    try transaction.readOutbox()
    try RowFiltering(transaction: transaction).askAgain(in: places)
    try transaction.finish()
  }
}
