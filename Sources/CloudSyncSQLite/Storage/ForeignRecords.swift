import CloudSyncCore
import CloudSyncSQLiteSupport

/// What the cloud has and this database's tables cannot hold: `cloudsync_foreign_records`.
///
/// Records of tables that are not here, and records that are damaged. They are shown, given to a table that is
/// made later, and uploaded again when the zone is lost.
struct ForeignRecords {
  /// Why a record is kept.
  enum Reason: Int64 {
    /// There is no table of its type, or the table has another key.
    case unknownTable = 0
    /// It cannot be read: the error says why.
    case invalid = 2
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
  func keep(_ record: Record, because reason: Reason, error: String? = nil) throws(SQLiteError) {
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

  /// Whether there is none.
  func isEmpty() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement("SELECT 1 FROM cloudsync_foreign_records LIMIT 1")
    defer { query.reset() }
    return try query.step() == false
  }

  func record(named name: String) throws(SQLiteError) -> Record? {
    let query =
      try connection.fixedStatement(
        "SELECT record FROM cloudsync_foreign_records WHERE record_name = ?1"
      )
      .bind(name, at: 1)
    defer { query.reset() }
    return try query.step() ? Self.record(in: query) : nil
  }

  /// Forgets what is kept under a name; returns whether there was anything.
  @discardableResult
  func remove(named name: String) throws(SQLiteError) -> Bool {
    try connection.fixedStatement("DELETE FROM cloudsync_foreign_records WHERE record_name = ?1")
      .bind(name, at: 1).run()
    return connection.changeCount > 0
  }

  /// Takes out the records of a table that is there now, or that could not be read, in the order of their names.
  ///
  /// - Parameter type: The type of the table's records.
  /// - Returns: The records, and whether the cloud has lost them with its zone.
  /// - Throws: SQLite's reason.
  func take(ofType type: String) throws(SQLiteError) -> [(record: Record, isLost: Bool)] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record, reason = 0 AND (is_unsent IS NOT NULL OR error IS NOT NULL)
        FROM cloudsync_foreign_records WHERE record_type = ?1 AND reason IN (0, 2)
        ORDER BY record_name
        """
      )
      .bind(type, at: 1)
    let records = try query.mapRows { (query) throws(SQLiteError) in
      (try Self.record(in: query), query.integer(1) != 0)
    }
    try connection.fixedStatement(
      "DELETE FROM cloudsync_foreign_records WHERE record_type = ?1 AND reason IN (0, 2)"
    )
    .bind(type, at: 1).run()
    return records
  }

  func removeAll() throws(SQLiteError) {
    try connection.execute("DELETE FROM cloudsync_foreign_records")
  }

  /// How many records there are of tables that are not here.
  func unknownCount() throws(SQLiteError) -> Int64 {
    try connection.integer("SELECT count(*) FROM cloudsync_foreign_records WHERE reason = 0")
  }

  /// The records that cannot be read, or were refused, with the reasons, in the order of their names.
  func unreadable() throws(SQLiteError) -> [SyncMetadata.UnreadableRecord] {
    let query = try connection.prepare(
      """
      SELECT record_name, error FROM cloudsync_foreign_records WHERE error IS NOT NULL
      ORDER BY record_name
      """
    )
    return try query.mapRows { query in
      SyncMetadata.UnreadableRecord(
        recordName: query.text(0) ?? "",
        reason: query.text(1) ?? ""
      )
    }
  }

  // MARK: A zone that is lost

  /// Notes that a record that was uploaded again is in the cloud, or was refused.
  ///
  /// - Parameters:
  ///   - name: The record's name.
  ///   - error: Why it was refused; nil if it was saved.
  ///   - next: When it may be sent again, in milliseconds since 1970; nil if only the app can help.
  /// - Throws: SQLite's reason.
  func noteSent(
    named name: String,
    error: String? = nil,
    next: Int64? = nil
  ) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_foreign_records SET is_unsent = ?3, error = ?2 WHERE record_name = ?1"
    )
    .bind(name, at: 1).bind(error.map { .text($0) } ?? .null, at: 2)
    .bind(next.map { .integer($0) } ?? .null, at: 3).run()
  }

  /// Has records sent again that were refused; returns how many.
  func retry() throws(SQLiteError) -> Int {
    try connection.execute(
      "UPDATE cloudsync_foreign_records SET is_unsent = 0, error = NULL"
        + " WHERE reason = 0 AND error IS NOT NULL"
    )
    return Int(connection.changeCount)
  }

  /// When the next one that waits may be sent, in milliseconds since 1970; nil if none waits.
  func nextDue(after now: Int64) throws(SQLiteError) -> Int64? {
    let query =
      try connection.fixedStatement(
        "SELECT min(is_unsent) FROM cloudsync_foreign_records WHERE is_unsent > ?1"
      )
      .bind(now, at: 1)
    defer { query.reset() }
    return try query.step() && !query.isNull(0) ? query.integer(0) : nil
  }

  /// Has all records of unknown tables uploaded again: nobody else might have them any more.
  func markUnsent() throws(SQLiteError) {
    try connection.execute("UPDATE cloudsync_foreign_records SET is_unsent = 0 WHERE reason = 0")
  }

  /// Has a record uploaded again if it is still of no table's.
  func markUnsent(named name: String) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_foreign_records SET is_unsent = 0 WHERE record_name = ?1 AND reason = 0"
    )
    .bind(name, at: 1).run()
  }

  /// The records to be uploaded again, in the order of their names, but for those that are on their way.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - now: Those that were refused in passing wait until then, in milliseconds since 1970.
  ///   - names: The names of those that are on their way.
  /// - Returns: Whole records without tags, since the cloud does not have them.
  /// - Throws: SQLite's reason.
  func unsent(
    limit: Int,
    at now: Int64,
    but names: Set<String>
  ) throws(SQLiteError) -> [Record] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record FROM cloudsync_foreign_records WHERE is_unsent <= ?2
        ORDER BY record_name LIMIT ?1
        """
      )
      .bind(Int64(limit + names.count), at: 1).bind(now, at: 2)
    let records = try query.mapRows(Self.record)
    return records.filter { !names.contains($0.recordID.name) }.prefix(limit)
      .map { $0.withChangeTag(nil) }
  }

  private static func record(in query: SQLiteStatement) throws(SQLiteError) -> Record {
    do throws(CodedError) { return try Record(codedBytes: query.bytes(0)) } catch {
      throw SQLiteError(
        code: 11,
        message: "a record in cloudsync_foreign_records is damaged: \(error)"
      )
    }
  }
}
