import CloudSyncCore
import CloudSyncSQLiteSupport

/// The values of a database's rows that may be the content of files.
package struct LargeValues: Sendable {
  /// The sizes of the files in bytes.
  private let sizes: Set<Int64>
  private let tables: [String]

  package init(sizes: [Int64], tables: [String]) {
    self.sizes = Set(sizes)
    self.tables = tables
  }

  /// Calls a body for each value that has one of the sizes.
  ///
  /// - Throws: What the body throws, or that the database cannot be read.
  package func forEach(
    in database: some SyncDatabase,
    _ body: @escaping @Sendable ([UInt8]) throws -> Void
  ) throws {
    let failure = Locked<(any Error)?>(nil)
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        for table in tables {
          for column in try columns(of: table, on: connection) {
            try forEach(column, of: table.quotedName, on: connection) { bytes in
              guard sizes.contains(Int64(bytes.count)), failure.withLock({ $0 == nil }) else {
                return
              }
              do { try body(bytes) } catch { failure.withLock { $0 = error } }
            }
          }
        }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private func columns(
    of table: String,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [String] {
    try connection.prepare("SELECT name FROM pragma_table_info(?1)").bind(.text(table), at: 1)
      .mapRows { ($0.text(0) ?? "").quotedName }
  }

  private func forEach(
    _ column: String,
    of table: String,
    on connection: SQLiteConnection,
    _ body: ([UInt8]) -> Void
  ) throws(SQLiteError) {
    let least = sizes.min() ?? 0
    // A character has at most four bytes.
    let rows = try connection.prepare(
      """
      SELECT \(column) FROM main.\(table)
      WHERE length(\(column)) >= CASE typeof(\(column)) WHEN 'text' THEN \(least / 4) ELSE \(least) END
      """
    )
    try rows.forEachRow { () throws(SQLiteError) in
      switch rows.value(0) {
      case .blob(let bytes): body(bytes)
      case .text(let text): body(Array(text.utf8))
      default: break
      }
    }
  }
}
