import CloudSyncCore
import CloudSyncSQLiteSupport

/// Finds rows of what the engine knows.
extension MetadataStore {
  static var columns: String { MetadataSchema.rowColumns }

  func row(_ table: Int64, _ key: SQLiteValue) throws(SQLiteError) -> RowState? {
    let query =
      try connection.statement(.rowByKey) {
        "SELECT \(Self.columns) FROM cloudsync_rows WHERE table_id = ?1 AND key IS ?2"
      }
      .bind(table, at: 1).bind(key, at: 2)
    return try rows(query).first
  }

  /// What a record means that a page has brought, as far as can be told at a glance.
  enum Glance {
    /// Nothing is known of such a row.
    case new
    /// It is the version that was acknowledged.
    case known
    case other
  }

  func glance(at table: Int64, _ key: SQLiteValue, tag: String?) throws(SQLiteError) -> Glance {
    let query =
      try connection.fixedStatement(
        """
        SELECT tag, waits_for IS NULL AND error_code IS NULL FROM cloudsync_rows
        WHERE table_id = ?1 AND key IS ?2
        """
      )
      .bind(table, at: 1).bind(key, at: 2)
    defer { query.reset() }
    guard try query.step() else { return .new }
    guard let tag, let known = query.text(0), query.integer(1) != 0 else { return .other }
    return UTF8Bytes.equal(tag, known) ? .known : .other
  }

  /// The row of a name that is not a key of text as it is.
  func row(named name: String) throws(SQLiteError) -> RowState? {
    let query =
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows
        WHERE record_name = ?1 AND record_name >= '~' AND record_name < '~~'
        """
      )
      .bind(name, at: 1)
    return try rows(query).first
  }

  /// What is to be sent next, in the order in which it was edited.
  func sendableRows(limit: Int) throws(SQLiteError) -> [RowState] {
    let query =
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows
        WHERE dirty IS NOT NULL AND operation IS NULL AND error_code IS NULL
          AND (waits_for IS NULL
            OR waits_for NOT IN ('*', '?') AND shelf IS NOT NULL AND payload IS NULL)
        ORDER BY dirty LIMIT ?1
        """
      )
      .bind(Int64(limit), at: 1)
    return try rows(query)
  }

  /// Calls a body for the rows of a table that the cloud has acknowledged.
  func forEachAcknowledgedRow(
    of table: Int64,
    _ body: (RowState) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let query =
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows
        WHERE table_id = ?1 AND server IS NOT NULL ORDER BY key
        """
      )
      .bind(table, at: 1)
    try query.forEachRow { () throws(SQLiteError) in try body(try Self.row(query)) }
  }

  /// The rows that an operation carries.
  func rows(of operation: Int64) throws(SQLiteError) -> [RowState] {
    let query =
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows WHERE operation = ?1 ORDER BY record_name
        """
      )
      .bind(operation, at: 1)
    return try rows(query)
  }

  /// What pages told of rows while an operation carried them; it is forgotten here.
  func takePayloads(of operation: Int64) throws(SQLiteError) -> [Record] {
    let query =
      try connection.fixedStatement(
        """
        SELECT payload FROM cloudsync_rows
        WHERE operation = ?1 AND payload IS NOT NULL
          AND (void IS NULL OR shelf IS NOT NULL OR waits_for IS NULL)
        ORDER BY record_name
        """
      )
      .bind(operation, at: 1)
    var records: [Record] = []
    try query.forEachRow { () throws(SQLiteError) in
      let record: Record? = try Self.decode(query, 0)
      if let record { records.append(record) }
    }
    if records.isEmpty { return [] }
    try connection.fixedStatement(
      """
      UPDATE cloudsync_rows SET payload = NULL
      WHERE operation = ?1 AND (void IS NULL OR shelf IS NOT NULL OR waits_for IS NULL)
      """
    )
    .bind(operation, at: 1).run()
    return records
  }

  /// The rows that any operation carries.
  func rowsInFlight() throws(SQLiteError) -> [RowState] {
    try rows(
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows
        WHERE operation IS NOT NULL ORDER BY record_name
        """
      )
    )
  }

  /// The rows whose records could not be applied yet.
  func rowsWaitingForParents() throws(SQLiteError) -> [RowState] {
    try rows(
      try connection.statement(
        """
        SELECT \(Self.columns) FROM cloudsync_rows
        WHERE waits_for IS NOT NULL
          AND waits_for NOT IN ('\(RowState.endOfFetch)', '\(RowState.nextFetch)')
        ORDER BY record_name
        """
      )
    )
  }

  /// The rows that wait for a record.
  func rows(waitingFor name: String) throws(SQLiteError) -> [RowState] {
    let query =
      try connection.statement(
        "SELECT \(Self.columns) FROM cloudsync_rows WHERE waits_for = ?1 ORDER BY record_name"
      )
      .bind(name, at: 1)
    return try rows(query)
  }

  /// The names of the records that the cloud had and that a fetch of everything has not brought.
  func unseenNames() throws(SQLiteError) -> [String] {
    let query = try connection.fixedStatement(
      """
      SELECT record_name FROM cloudsync_rows r
      WHERE (server IS NOT NULL OR payload IS NOT NULL) AND void IS NULL
        AND coalesce(page, 0) < (SELECT value FROM cloudsync_facts WHERE key = 'first_page')
        AND NOT EXISTS(SELECT 1 FROM cloudsync_seen s WHERE s.record_name = r.record_name)
      ORDER BY record_name
      """
    )
    var names: [String] = []
    try query.forEachRow { if let name = query.text(0) { names.append(name) } }
    return names
  }

  /// The rows that satisfy a condition, which may end with an order.
  func rows(where condition: String) throws(SQLiteError) -> [RowState] {
    try rows(
      try connection.statement("SELECT \(Self.columns) FROM cloudsync_rows WHERE \(condition)")
    )
  }

  private func rows(_ query: SQLiteStatement) throws(SQLiteError) -> [RowState] {
    var rows: [RowState] = []
    try query.forEachRow { () throws(SQLiteError) in rows.append(try Self.row(query)) }
    return rows
  }

  /// How many rows are to be sent and are not on their way.
  func pendingCount() throws(SQLiteError) -> Int {
    let query = try connection.fixedStatement(
      "SELECT count(*) FROM cloudsync_rows WHERE dirty IS NOT NULL AND operation IS NULL"
    )
    defer { query.reset() }
    return try query.step() ? Int(clamping: query.integer(0)) : 0
  }

  /// Whether any row waits for another.
  func hasWaitingRows() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement(
      "SELECT 1 FROM cloudsync_rows WHERE waits_for IS NOT NULL LIMIT 1"
    )
    defer { query.reset() }
    return try query.step()
  }
}
