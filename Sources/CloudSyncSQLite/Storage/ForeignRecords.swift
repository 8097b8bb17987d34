import CloudSyncCore
import CloudSyncSQLiteSupport

/// What the cloud has and this database's tables cannot hold: `cloudsync_foreign_records`.
///
/// Records of tables that are not here, records that are damaged, and of clean rows the columns and fields
/// that only newer versions of the app know. They are shown, given to a table that is made later, and
/// uploaded again when the zone is lost.
struct ForeignRecords {
  /// Why a record is kept.
  enum Reason: Int64 {
    /// There is no table of its type.
    case unknownTable = 0
    /// Its row is in a table; this is what the table does not know of it.
    case unknownFields
    /// It cannot be read: the error says why.
    case invalid
  }

  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_foreign_records(
      record_name TEXT PRIMARY KEY NOT NULL,
      record_type TEXT NOT NULL,
      reason INTEGER NOT NULL,
      record BLOB NOT NULL,
      error TEXT,
      is_unsent INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX cloudsync_foreign_records_by_type ON cloudsync_foreign_records(record_type);
    CREATE INDEX cloudsync_foreign_records_unsent ON cloudsync_foreign_records(is_unsent)
      WHERE is_unsent IS NOT NULL;
    """

  /// Keeps a record in place of what was kept under its name.
  func keep(_ record: Record, _ reason: Reason, error: String? = nil) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_foreign_records(record_name, record_type, reason, record, error)
      VALUES(?1, ?2, ?3, ?4, ?5)
      ON CONFLICT DO UPDATE SET record_type = ?2, reason = ?3, record = ?4, error = ?5,
        is_unsent = NULL
      """
    )
    .bind(record.recordID.name, at: 1).bind(record.recordType, at: 2).bind(reason.rawValue, at: 3)
    .bind(record.codedBytes, at: 4).bind(error.map { .text($0) } ?? .null, at: 5).run()
  }

  func record(named name: String) throws(SQLiteError) -> Record? {
    let query =
      try connection.fixedStatement(
        "SELECT record FROM cloudsync_foreign_records WHERE record_name = ?1"
      )
      .bind(name, at: 1)
    defer { query.reset() }
    return try query.step() ? Self.record(query) : nil
  }

  /// Forgets what is kept under a name; returns whether there was anything.
  @discardableResult
  func remove(named name: String) throws(SQLiteError) -> Bool {
    try connection.fixedStatement("DELETE FROM cloudsync_foreign_records WHERE record_name = ?1")
      .bind(name, at: 1).run()
    return connection.changeCount > 0
  }

  /// Takes out the records of a table that is there now, in the order of their names.
  func take(ofType type: String) throws(SQLiteError) -> [Record] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record FROM cloudsync_foreign_records WHERE record_type = ?1 AND reason = 0
        ORDER BY record_name
        """
      )
      .bind(type, at: 1)
    let records = try query.mapRows(Self.record)
    try connection.fixedStatement(
      "DELETE FROM cloudsync_foreign_records WHERE record_type = ?1 AND reason = 0"
    )
    .bind(type, at: 1).run()
    return records
  }

  // MARK: A zone that is lost

  /// Has all records of unknown tables uploaded again: nobody else might have them any more.
  func markUnsent() throws(SQLiteError) {
    try connection.execute("UPDATE cloudsync_foreign_records SET is_unsent = 1 WHERE reason = 0")
  }

  /// The records to be uploaded again, in the order of their names.
  func unsent(limit: Int) throws(SQLiteError) -> [Record] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record FROM cloudsync_foreign_records WHERE is_unsent IS NOT NULL
        ORDER BY record_name LIMIT ?1
        """
      )
      .bind(Int64(limit), at: 1)
    return try query.mapRows(Self.record)
  }

  private static func record(_ query: SQLiteStatement) throws(SQLiteError) -> Record {
    do throws(CodedError) { return try Record(codedBytes: query.bytes(0)) } catch {
      throw SQLiteError(
        code: 11,
        message: "a record in cloudsync_foreign_records is damaged: \(error)"
      )
    }
  }
}
