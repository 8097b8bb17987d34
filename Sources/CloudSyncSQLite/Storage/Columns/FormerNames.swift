import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whose names tables and columns had before: copies that were not migrated yet, and records, know them by these still.
struct FormerNames {
  private static let tables = "tables"
  private let facts: Facts
  private let all: [String: [String: String]]

  init(connection: SQLiteConnection) throws(SQLiteError) {
    facts = Facts(connection: connection)
    all = try facts.names(.formerNames)
  }

  var isEmpty: Bool { all.isEmpty }

  /// The number of the table that has had a name; nil if none is known.
  func table(called name: String) -> Int64? {
    all[Self.tables]?[name.lowercased()].flatMap { Int64($0) }
  }

  /// The numbers of a table's columns that have had names, with these, in their order.
  func columns(of table: Int64) -> [(name: String, number: Int)] {
    (all["\(table)"] ?? [:]).sorted { $0.key < $1.key }
      .compactMap { name, number in Int(number).map { (name: name, number: $0) } }
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
    var all = all
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
