import CloudSyncSQLiteSupport

/// A row that is not in its table yet, for SQL that asks what an index would say of it.
///
/// SQLite gives a value of a statement no affinity and no collation (https://sqlite.org/datatype3.html, section 3.2), and so
/// compares it otherwise than the column's. A cast gives it those of its column and leaves it as it is, unless it has a type
/// that the column does not convert to its own, as text in a column of numbers.
package struct CandidateRow: Sendable {
  private let table: TableSchema
  private let columns: [(column: TableSchema.Column, value: String)]

  /// - Parameters:
  ///   - table: The table.
  ///   - values: Columns with the SQL of what the row is to hold, as the column stores it.
  package init(of table: TableSchema, values: [(column: String, value: String)]) {
    self.table = table
    columns = values.compactMap { name, value in
      table.column(named: name).map { ($0, value) }
    }
  }

  /// That SQL cannot compare one of its values as the column does; nil if it can whatever they are.
  private var isForeign: String? {
    let hasText = columns.contains { $0.column.affinity == .text }
    let conditions = columns.compactMap { column, value -> String? in
      if table.keepsValues(in: column) {
        // Beside a column of text SQLite would take a number for text.
        return hasText ? "typeof(\(value)) IN ('integer', 'real')" : nil
      }
      return column.affinity == .text
        ? "typeof(\(value)) = 'blob'" : "typeof(\(value)) IN ('text', 'blob')"
    }
    return conditions.isEmpty ? nil : "(\(conditions.joined(separator: " OR ")))"
  }

  /// What a term is of it, as SQL.
  ///
  /// - Parameters:
  ///   - term: The term, as SQL on the table's columns.
  ///   - predicate: Whether the row has any, as SQL on the table's columns; nil if it has.
  /// - Returns: A query in brackets.
  package func query(_ term: String, if predicate: String? = nil) -> String {
    func query(_ row: String, if condition: String?) -> String {
      let conditions = [predicate.map { "(\($0))" }, condition].compactMap { $0 }
      let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
      return "SELECT \(term) FROM (SELECT \(row)) AS \(table.name.quotedName)\(filter)"
    }
    guard let isForeign else { return "(\(query(converted, if: nil)))" }
    let plain = query(list { $0.value }, if: isForeign)
    return "(\(query(converted, if: "NOT \(isForeign)")) UNION ALL \(plain))"
  }

  private var converted: String {
    list { column, value in
      let collation = column.collation.map { " COLLATE \($0.quotedName)" } ?? ""
      if table.keepsValues(in: column) { return value + collation }
      let type =
        switch column.affinity {
        case .text: "TEXT"
        case .real: "REAL"
        case .integer, .numeric, .blob: "NUMERIC"
        }
      return "CAST(\(value) AS \(type))\(collation)"
    }
  }

  private func list(_ sql: ((column: TableSchema.Column, value: String)) -> String) -> String {
    if columns.isEmpty { return "NULL" }
    return columns.map { "\(sql($0)) AS \($0.column.name.quotedName)" }.joined(separator: ", ")
  }
}
