import CloudSyncSQLiteSupport

/// A row of a synchronized table: the table's number, and its key as the engine's tables have it.
struct RowKey: Sendable, Hashable {
  var table: Int64
  var key: SQLiteValue
}
