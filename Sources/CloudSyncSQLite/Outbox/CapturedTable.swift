import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table whose edits are captured.
struct CapturedTable: Sendable {
  /// Its number in the outbox.
  let id: Int64
  let schema: TableSchema
  /// The names of columns by their numbers in captured edits, those of former schemas too.
  let columns: [String]
  let key: [KeyColumn]
  /// The columns whose values are captured before and after an edit, by their places in the outbox.
  let kept: [String]
  /// The condition of the rows that are sent; nil for all.
  var filter: String?
  /// What SQLite does to rows that refer to those of the table.
  var actions = ReferenceActions()

  var name: String { schema.name }

  /// The columns whose edits are captured, with their numbers.
  var watched: [(number: Int, column: TableSchema.Column)] {
    var numbers: [String: Int] = [:]
    for (number, name) in columns.enumerated() { numbers[name] = number }
    return schema.writableColumns.compactMap { column in
      numbers[column.name].map { ($0, column) }
    }
  }

  /// The kept columns that the table still has, with their places.
  var keptColumns: [(place: Int, name: String)] {
    let present = Set(schema.writableColumns.map(\.name))
    return kept.enumerated().filter { present.contains($0.element) }.map { ($0.offset, $0.element) }
  }

  /// A value that is the same for all spellings of a key.
  func identity(of values: [SQLiteValue]) -> [SQLiteValue] {
    zip(key, values).map { $0.collation.canonical($1) }
  }

  /// Whether two rows have the same key, as SQL.
  func isSameKey(_ row: String, as other: String) -> String {
    key.map { $0.isSame(row, as: other) }.joined(separator: " AND ")
  }

  /// Whether it is the engine that writes a row, as SQL: see ``CaptureSuppression``.
  func isOwn(_ row: String) -> String {
    let isKey = key.enumerated()
      .map { "k\($0) IS \(row).\($1.name.quotedName) COLLATE \($1.collation.rawValue)" }
      .joined(separator: " AND ")
    return "EXISTS(SELECT 1 FROM cloudsync_clock WHERE own_table = \(id)"
      + " AND (own_all OR (\(isKey))))"
  }

  /// The condition of the rows that are sent, to be used within another one; nil for all.
  ///
  /// A comment may end it.
  var filterSQL: String? { filter.map { "(\($0)\n)" } }

  /// The rows that are sent, as a table of a query.
  var sentRows: String {
    let table = "main.\(name.quotedName)"
    return filterSQL.map { "(SELECT * FROM \(table) WHERE \($0))" } ?? table
  }

  /// Whether all of a row's key is there, as SQL; nil if it must be.
  func hasKey(_ row: String) -> String? {
    let columns = schema.nullableKeyColumns.map { "\(row).\($0.quotedName) IS NOT NULL" }
    return columns.isEmpty ? nil : columns.joined(separator: " AND ")
  }
}
