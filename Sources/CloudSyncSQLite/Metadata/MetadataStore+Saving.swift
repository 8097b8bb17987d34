import CloudSyncCore
import CloudSyncSQLiteSupport

/// Writes rows of what the engine knows, and reads them back.
extension MetadataStore {
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

  // MARK: Coded form

  static func row(_ query: SQLiteStatement) throws(SQLiteError) -> RowState {
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

  static func decode(
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
