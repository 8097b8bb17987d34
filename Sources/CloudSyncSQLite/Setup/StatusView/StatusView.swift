import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The view `cloudsync_status`: every row of every synchronized table, with how far it and its record have come
/// together.
///
/// | column | content |
/// |---|---|
/// | `table_name` | the table; NULL for a record that cannot be read |
/// | `key` | the value of the row's key, in the spelling that stands for all equal ones; of several columns their values as SQL literals with commas between them |
/// | `record_name` | the name of its record; NULL where SQL cannot tell it |
/// | `status` | 'clean', 'dirty', 'local', 'waiting' or 'parked' |
/// | `error_code`, `error` | why it is parked |
/// | `waits_for` | the record that it waits for |
///
/// A key has two lines if a row has it that was given it on another device, and the row that had it is kept until it is free:
/// this one is parked with the code 1555.
///
/// A row is local if it has an edit that stays on this device; deletions that stay here are not in the view.
/// A row whose edit no engine has read yet is dirty, and so is a tombstone until the cloud has it. The rows that
/// a table had before it was synchronized are in the view once they have been looked at, which is after the
/// first fetch; until then one dirty row without a key stands for all of them.
///
/// The view is over the engine's own tables alone: with a view that names the app's tables SQLite refuses
/// every `ALTER TABLE … RENAME` after a `DROP TABLE`, which is how apps rebuild tables.
enum StatusView {
  /// Makes the view where it is not there to the byte.
  static func install(on connection: SQLiteConnection) throws(SQLiteError) {
    let tables = try TableRegistry(connection: connection).tables()
    let sql = "CREATE VIEW cloudsync_status AS \(StatusQuery(tables).sql)"
    let there = try connection.value(
      "SELECT sql FROM main.sqlite_schema WHERE name = 'cloudsync_status' AND type = 'view'"
    )
    if there == .text(sql) { return }
    try connection.execute("DROP VIEW IF EXISTS main.cloudsync_status")
    try connection.execute(sql)
  }
}
