import CloudSyncCore
import CloudSyncSQLiteSupport

/// Reads and writes the engine's tables, within whatever transaction is open.
struct MetadataStore {
  let connection: SQLiteConnection

  // MARK: Small facts

  func info(_ key: String) throws(SQLiteError) -> SQLiteValue? {
    let query = try connection.fixedStatement("SELECT value FROM cloudsync_info WHERE key = ?1")
      .bind(key, at: 1)
    defer { query.reset() }
    return try query.step() ? query.value(0) : nil
  }

  func setInfo(_ key: String, _ value: SQLiteValue?) throws(SQLiteError) {
    guard let value else {
      return try connection.fixedStatement("DELETE FROM cloudsync_info WHERE key = ?1")
        .bind(key, at: 1).run()
    }
    try connection.fixedStatement("REPLACE INTO cloudsync_info(key, value) VALUES(?1, ?2)")
      .bind(key, at: 1).bind(value, at: 2).run()
  }

  /// A small fact that goes with the rows.
  func fact(_ key: String) throws(SQLiteError) -> SQLiteValue? {
    let query = try connection.fixedStatement("SELECT value FROM cloudsync_facts WHERE key = ?1")
      .bind(key, at: 1)
    defer { query.reset() }
    return try query.step() ? query.value(0) : nil
  }

  func setFact(_ key: String, _ value: SQLiteValue?) throws(SQLiteError) {
    guard let value else {
      return try connection.fixedStatement("DELETE FROM cloudsync_facts WHERE key = ?1")
        .bind(key, at: 1).run()
    }
    try connection.fixedStatement("REPLACE INTO cloudsync_facts(key, value) VALUES(?1, ?2)")
      .bind(key, at: 1).bind(value, at: 2).run()
  }

  /// The number of the page that was stored last; 0 if none was.
  func lastPage() throws(SQLiteError) -> Int64 {
    try fact("page")?.integer ?? 0
  }

  // MARK: Clock

  /// Sees to it that whatever is edited from now on is later than this.
  func advanceClock(beyond time: HybridTime) throws(SQLiteError) {
    try connection.fixedStatement("UPDATE cloudsync_clock SET last = max(last, ?1)")
      .bind(time.rawValue, at: 1).run()
  }

  /// Tells the triggers that all rows of a table are the engine's to write.
  func setApplying(allOf table: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_clock SET applying_table = ?1, applying_key = NULL, applying_all = 1"
    )
    .bind(table, at: 1).run()
  }

  /// Tells the triggers which row is the engine's to write; none if nil.
  func setApplying(_ row: (table: Int64, key: SQLiteValue)?) throws(SQLiteError) {
    let statement = try connection.fixedStatement(
      "UPDATE cloudsync_clock SET applying_table = ?1, applying_key = ?2, applying_all = NULL"
    )
    if let row {
      statement.bind(row.table, at: 1).bind(row.key, at: 2)
    } else {
      statement.bindNull(at: 1).bindNull(at: 2)
    }
    try statement.run()
  }

  // MARK: Outbox

  /// The oldest edits that were captured.
  func outbox(limit: Int, after id: Int64) throws(SQLiteError) -> [OutboxEntry] {
    let query =
      try connection.fixedStatement(
        """
        SELECT id, table_id, key, change, adopted FROM cloudsync_outbox
        WHERE id > ?2 ORDER BY id LIMIT ?1
        """
      )
      .bind(Int64(limit), at: 1).bind(id, at: 2)
    var entries: [OutboxEntry] = []
    try query.forEachRow {
      entries.append(
        OutboxEntry(
          id: query.integer(0),
          table: query.integer(1),
          key: query.value(2),
          change: query.isNull(3) ? nil : query.text(3),
          isAdopted: query.integer(4) != 0
        )
      )
    }
    return entries
  }

  func removeOutbox(upTo id: Int64) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_outbox WHERE id <= ?1")
      .bind(id, at: 1).run()
  }

  // MARK: Rows

  private static let columns = """
    table_id, key, record_name, server, edits, deleted_at, dirty, operation, error_code, error,
    waits_for, payload, sent_page, page, created_at, shelf, shelf_code, shelf_error, tag,
    former, void, first_created
    """

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

  private static func row(_ query: SQLiteStatement) throws(SQLiteError) -> RowState {
    guard let name = query.text(2) else {
      throw SQLiteError(code: 11, message: "a record's name is no text", sql: query.sql)
    }
    var row = RowState(table: query.integer(0), key: query.value(1), recordName: name)
    row.server = try Self.decode(query, 3)
    row.edits = try Self.decode(query, 4) ?? []
    row.deletedAt = query.isNull(5) ? nil : HybridTime(rawValue: query.integer(5))
    row.dirty = query.isNull(6) ? nil : query.integer(6)
    row.operation = query.isNull(7) ? nil : query.integer(7)
    row.errorCode = query.isNull(8) ? nil : query.integer(8)
    row.error = query.text(9)
    row.waitsFor = query.text(10)
    row.payload = try Self.decode(query, 11)
    row.sentPage = query.isNull(12) ? nil : query.integer(12)
    row.page = query.isNull(13) ? nil : query.integer(13)
    row.createdAt = query.isNull(14) ? nil : HybridTime(rawValue: query.integer(14))
    row.shelf = try Self.decode(query, 15)
    row.shelfCode = query.isNull(16) ? nil : query.integer(16)
    row.shelfError = query.text(17)
    row.former = try Self.decode(query, 19)
    row.void = query.isNull(20) ? nil : query.integer(20)
    row.firstCreatedAt = query.isNull(21) ? nil : HybridTime(rawValue: query.integer(21))
    return row
  }

  /// How many rows are to be sent and are not on their way.
  func pendingCount() throws(SQLiteError) -> Int {
    let query = try connection.fixedStatement(
      "SELECT count(*) FROM cloudsync_rows WHERE dirty IS NOT NULL AND operation IS NULL"
    )
    defer { query.reset() }
    return try query.step() ? Int(query.integer(0)) : 0
  }

  func save(_ row: RowState) throws(SQLiteError) {
    let statement =
      try connection.statement(.saveRow) {
        """
        INSERT INTO cloudsync_rows(\(Self.columns))
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
          ?20, ?21, ?22)
        ON CONFLICT(table_id, key) DO UPDATE SET
          record_name = ?3, server = ?4, edits = ?5, deleted_at = ?6, dirty = ?7, operation = ?8,
          error_code = ?9, error = ?10, waits_for = ?11, payload = ?12, sent_page = ?13, page = ?14,
          created_at = ?15, shelf = ?16, shelf_code = ?17, shelf_error = ?18, tag = ?19,
          former = ?20, void = ?21, first_created = ?22
        """
      }
      .bind(row.table, at: 1).bind(row.key, at: 2).bind(row.recordName, at: 3)
      .bind(row.server.map { .blob($0.codedBytes) } ?? .null, at: 4)
      .bind(row.edits.isEmpty ? .null : .blob(RowState.encode(row.edits)), at: 5)
      .bind(row.deletedAt.map { .integer($0.rawValue) } ?? .null, at: 6)
      .bind(row.dirty.map { .integer($0) } ?? .null, at: 7)
      .bind(row.operation.map { .integer($0) } ?? .null, at: 8)
      .bind(row.errorCode.map { .integer($0) } ?? .null, at: 9)
      .bind(row.error.map { .text($0) } ?? .null, at: 10)
      .bind(row.waitsFor.map { .text($0) } ?? .null, at: 11)
      .bind(row.payload.map { .blob($0.codedBytes) } ?? .null, at: 12)
      .bind(row.sentPage.map { .integer($0) } ?? .null, at: 13)
      .bind(row.page.map { .integer($0) } ?? .null, at: 14)
      .bind(row.createdAt.map { .integer($0.rawValue) } ?? .null, at: 15)
      .bind(row.shelf.map { .blob($0.codedBytes) } ?? .null, at: 16)
      .bind(row.shelfCode.map { .integer($0) } ?? .null, at: 17)
      .bind(row.shelfError.map { .text($0) } ?? .null, at: 18)
      .bind((row.isVoid ? nil : row.server?.changeTag).map { .text($0) } ?? .null, at: 19)
      .bind(row.former.map { .blob($0.codedBytes) } ?? .null, at: 20)
      .bind(row.void.map { .integer($0) } ?? .null, at: 21)
      .bind(row.firstCreatedAt.map { .integer($0.rawValue) } ?? .null, at: 22)
    try statement.run()
    try stage(row)
  }

  /// Notes a row that came from the cloud and of which nothing was known.
  func insertClean(_ row: RowState, _ server: Record, page: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_rows(table_id, key, record_name, server, page, tag)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6)
      """
    )
    .bind(row.table, at: 1).bind(row.key, at: 2).bind(row.recordName, at: 3)
    .bind(server.codedBytes, at: 4).bind(page, at: 5)
    .bind(server.changeTag.map { .text($0) } ?? .null, at: 6).run()
  }

  /// Whether any row waits for another.
  func hasWaitingRows() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement(
      "SELECT 1 FROM cloudsync_rows WHERE waits_for IS NOT NULL LIMIT 1"
    )
    defer { query.reset() }
    return try query.step()
  }

  /// Notes which operation carries a row, and the last page that was stored when it left.
  func markSent(_ row: RowState, operation: Int64, page: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      UPDATE cloudsync_rows SET operation = ?3, sent_page = ?4 WHERE table_id = ?1 AND key IS ?2
      """
    )
    .bind(row.table, at: 1).bind(row.key, at: 2).bind(operation, at: 3).bind(page, at: 4).run()
  }

  /// Notes that the cloud has a row as it was sent, if nothing has happened to it since; returns whether
  /// that was so.
  func settle(
    _ row: RowState,
    as server: Record,
    of operation: Int64
  ) throws(SQLiteError) -> Bool {
    try connection.fixedStatement(
      """
      UPDATE cloudsync_rows SET server = ?4, tag = ?5, edits = NULL, created_at = NULL,
        deleted_at = NULL, dirty = NULL, operation = NULL, sent_page = NULL, error_code = NULL,
        error = NULL, first_created = NULL
      WHERE table_id = ?1 AND key IS ?2 AND operation = ?3 AND edits IS ?6 AND created_at IS ?7
        AND deleted_at IS ?8 AND payload IS NULL AND waits_for IS NULL AND shelf IS NULL
        AND former IS NULL AND void IS NULL
      """
    )
    .bind(row.table, at: 1).bind(row.key, at: 2).bind(operation, at: 3)
    .bind(server.codedBytes, at: 4).bind(server.changeTag.map { .text($0) } ?? .null, at: 5)
    .bind(row.edits.isEmpty ? .null : .blob(RowState.encode(row.edits)), at: 6)
    .bind(row.createdAt.map { .integer($0.rawValue) } ?? .null, at: 7)
    .bind(row.deletedAt.map { .integer($0.rawValue) } ?? .null, at: 8)
    .run()
    return connection.changeCount == 1
  }

  func remove(_ row: RowState) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_rows WHERE table_id = ?1 AND key IS ?2")
      .bind(row.table, at: 1).bind(row.key, at: 2).run()
  }

  private static func decode(
    _ query: SQLiteStatement,
    _ column: Int32
  ) throws(SQLiteError) -> Record? {
    if query.isNull(column) { return nil }
    do throws(CodedError) { return try Record(codedBytes: query.bytes(column)) } catch {
      throw SQLiteError(code: 11, message: "what is known of a row is damaged: \(error)")
    }
  }

  private static func decode(
    _ query: SQLiteStatement,
    _ column: Int32
  ) throws(SQLiteError) -> [RowState.Edit]? {
    if query.isNull(column) { return nil }
    do throws(CodedError) {
      var reader = BinaryReader(query.bytes(column))
      return try reader.array { (reader) throws(CodedError) in try RowState.Edit(from: &reader) }
    } catch {
      throw SQLiteError(code: 11, message: "the edits of a row are damaged: \(error)")
    }
  }
}

extension StatementID {
  static let rowByKey = StatementID(kind: 1)
  static let saveRow = StatementID(kind: 2)

  /// The statements of a table's rows.
  static func insert(_ table: SyncTable, columns: UInt64) -> StatementID {
    StatementID(kind: 3, table: table.fingerprint, columns: columns)
  }

  static func values(of table: SyncTable) -> StatementID {
    StatementID(kind: 4, table: table.fingerprint)
  }
}
