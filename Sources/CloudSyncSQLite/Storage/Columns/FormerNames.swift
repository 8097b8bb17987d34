import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whose names tables and columns had before: copies that were not migrated yet, and records, know them by these still.
struct FormerNames {
  let connection: SQLiteConnection

  private static let tables = "tables"
  private var facts: Facts { Facts(connection: connection) }

  /// The numbers of the tables that have had names, by these in small letters.
  func tables() throws(SQLiteError) -> [String: Int64] {
    try (facts.names(.formerNames)[Self.tables] ?? [:]).compactMapValues { Int64($0) }
  }

  /// The numbers of a table's columns that have had names, by these.
  func columns(of table: Int64) throws(SQLiteError) -> [String: Int] {
    try (facts.names(.formerNames)["\(table)"] ?? [:]).compactMapValues { Int($0) }
  }

  /// Notes that a table has got another name, or columns of it have.
  ///
  /// - Parameters:
  ///   - table: The table as it is now.
  ///   - name: What it was called.
  ///   - columns: The new names of columns by the former ones.
  /// - Throws: SQLite's reason.
  func note(
    _ table: RegisteredTable,
    formerly name: String,
    columns: [String: String]
  ) throws(SQLiteError) {
    var all = try facts.names(.formerNames)
    if !UTF8Bytes.equal(name, table.name) {
      all[Self.tables, default: [:]][name.lowercased()] = "\(table.id)"
    }
    for (old, new) in columns {
      guard let number = table.columns.firstIndex(of: new) else { continue }
      all["\(table.id)", default: [:]][old] = "\(number)"
    }
    try facts.set(.formerNames, toNames: all)
  }
}
