import CloudSyncCore
import CloudSyncSQLiteSupport

/// Somebody who takes part in a transaction: what it does is done to the transaction's rows.
protocol TransactionPart {
  var transaction: SyncTransaction { get }
}

extension TransactionPart {
  var connection: SQLiteConnection { transaction.connection }
  var tables: SyncTables { transaction.tables }
  var stored: EngineStorage { transaction.stored }
  var facts: Facts { transaction.facts }
  var now: Int64 { transaction.now }

  func row(_ key: RecordKey, in place: Int) throws(SQLiteError) -> LoadedRow {
    try transaction.row(key, in: place)
  }

  func row(_ rowKey: RowKey) throws(SQLiteError) -> LoadedRow? { try transaction.row(rowKey) }

  func keep(_ row: LoadedRow) { transaction.keep(row) }

  @discardableResult
  func reduce(
    _ event: RecordEvent,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) -> LoadedRow {
    try transaction.reduce(event, of: key, in: place)
  }
}
