import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads ``SyncMetadata``.
struct MetadataReading {
  let connection: SQLiteConnection

  /// The last of the edits of each key that the triggers have captured and nobody has read.
  private static let unread = """
    WITH unread AS (
      SELECT table_id, key, change, max(id) FROM cloudsync_outbox GROUP BY table_id, key
    )
    """

  /// Reads everything in one transaction that does not write.
  func read() throws(SyncEngineError) -> SyncMetadata? {
    try sqlite { () throws(SQLiteError) in try connection.execute("SAVEPOINT cloudsync_reading") }
    let result: Result<SyncMetadata?, SyncEngineError>
    do throws(SyncEngineError) { result = .success(try readAll()) } catch {
      result = .failure(error)
    }
    try sqlite { () throws(SQLiteError) in try connection.execute("RELEASE cloudsync_reading") }
    return try result.get()
  }

  private func readAll() throws(SyncEngineError) -> SyncMetadata? {
    guard let version = try MetadataSchema.installedVersion(connection) else { return nil }
    guard version <= MetadataSchema.version else { throw .newerMetadata(version) }
    return try sqlite { () throws(SQLiteError) in
      let store = MetadataStore(connection: connection)
      let parked = try held("coalesce(r.error_code, r.shelf_code) IS NOT NULL")
      let lastSync = try store.info("last_sync")?.integer
      let tables = try tables()
      return SyncMetadata(
        version: Int(clamping: version),
        tables: tables,
        parked: parked,
        waiting: try held(
          "coalesce(r.error_code, r.shelf_code) IS NULL AND r.waits_for IS NOT NULL"
        ),
        pages: UInt64(max(0, try store.lastPage())),
        unknownRecords: Int(
          clamping: try connection.integer("SELECT count(*) FROM cloudsync_strangers")
        ),
        unnamedRows: try unnamedRows(of: tables),
        lastSync: lastSync.map { Timestamp(nanoseconds: $0 * 1_000_000) }
      )
    }
  }

  /// The rows without a whole key, of the tables that are still there.
  private func unnamedRows(of tables: [SyncMetadata.Table]) throws(SQLiteError) -> [UnnamedRow] {
    let schema = try DatabaseSchema.read(connection)
    var rows: [UnnamedRow] = []
    for table in tables.compactMap({ schema.table(named: $0.name) }) {
      rows += try table.unnamedRows(limit: 100, in: connection)
    }
    return rows
  }

  private func tables() throws(SQLiteError) -> [SyncMetadata.Table] {
    let counts = try counts()
    let query = try connection.prepare("SELECT id, name, columns FROM cloudsync_tables ORDER BY id")
    var tables: [SyncMetadata.Table] = []
    try query.forEachRow { () throws(SQLiteError) in
      guard let name = query.text(1), let list = query.text(2) else { return }
      let columns: [String]
      do { columns = try JSONDecoder().decode([String].self, from: Data(list.utf8)) } catch {
        throw SQLiteError(code: 11, message: "cloudsync_tables is damaged for \(name): \(error)")
      }
      tables.append(
        SyncMetadata.Table(
          name: name,
          columns: columns,
          counts: counts[query.integer(0)] ?? SyncMetadata.Counts()
        )
      )
    }
    return tables
  }

  /// The counts by the tables' numbers.
  private func counts() throws(SQLiteError) -> [Int64: SyncMetadata.Counts] {
    let query = try connection.prepare(
      """
      \(Self.unread)
      SELECT r.table_id,
        CASE
          WHEN coalesce(r.error_code, r.shelf_code) IS NOT NULL THEN 'parked'
          WHEN r.waits_for IS NOT NULL THEN 'waiting'
          WHEN r.operation IS NOT NULL THEN 'inFlight'
          WHEN r.dirty IS NOT NULL OR u.key IS NOT NULL THEN 'dirty'
          ELSE 'clean'
        END AS status,
        count(*)
      FROM cloudsync_rows r
      LEFT JOIN unread u ON u.table_id = r.table_id AND u.key = r.key
      GROUP BY 1, 2
      UNION ALL
      SELECT u.table_id, 'dirty', count(*) FROM unread u
      WHERE u.change IS NOT ''
        AND NOT EXISTS(
          SELECT 1 FROM cloudsync_rows r WHERE r.table_id = u.table_id AND r.key = u.key
        )
      GROUP BY 1
      """
    )
    var counts: [Int64: SyncMetadata.Counts] = [:]
    try query.forEachRow {
      let count = Int(clamping: query.integer(2))
      let table = query.integer(0)
      switch query.text(1) {
      case "parked": counts[table, default: .init()].parked += count
      case "waiting": counts[table, default: .init()].waiting += count
      case "inFlight": counts[table, default: .init()].inFlight += count
      case "dirty": counts[table, default: .init()].dirty += count
      default: counts[table, default: .init()].clean += count
      }
    }
    return counts
  }

  /// The records that a condition holds for.
  func held(_ condition: String) throws(SQLiteError) -> [SyncMetadata.HeldRecord] {
    let query = try connection.prepare(
      """
      SELECT t.name, r.key, r.record_name, coalesce(r.error_code, r.shelf_code),
        coalesce(r.error, r.shelf_error), r.waits_for
      FROM cloudsync_rows r JOIN cloudsync_tables t ON t.id = r.table_id
      WHERE \(condition) ORDER BY t.id, r.record_name
      """
    )
    var records: [SyncMetadata.HeldRecord] = []
    try query.forEachRow {
      guard let table = query.text(0), let name = query.text(2) else { return }
      let status: RecordStatus =
        query.isNull(3)
        ? .waiting(recordName: query.text(5) ?? "")
        : .parked(
          code: Int(clamping: query.integer(3)),
          reason: query.text(4) ?? "no reason is known"
        )
      records.append(
        SyncMetadata.HeldRecord(
          table: table,
          key: RowKeyText.text(of: query.value(1), recordName: name),
          recordName: name,
          status: status
        )
      )
    }
    return records
  }
}

/// A row's key for people.
enum RowKeyText {
  /// The key as SQL, from the form that the engine's tables have it in.
  static func text(of key: SQLiteValue, recordName: String) -> String {
    // A key of several columns is stored as its literals; what the name says tells the two apart.
    if case .text(let literals) = key,
      case .values(let values)? = RecordName.parse(recordName)?.key,
      values.count > 1
    {
      return literals
    }
    return key.literal
  }
}
