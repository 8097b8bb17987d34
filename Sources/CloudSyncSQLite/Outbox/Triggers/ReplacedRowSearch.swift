package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds the row that another one would be written over, by a unique key beside the primary one.
package struct ReplacedRowSearch {
  let schema: TableSchema
  let search: UniqueKeySearch

  package init(schema: TableSchema, search: UniqueKeySearch) {
    self.schema = schema
    self.search = search
  }

  /// The columns that an update must name to meet the unique key; nil if it need not name any.
  package var watchedColumns: [String]? {
    // The row's number has other names than its column's.
    let hasNumber = schema.hasIntegerKey && search.columns.contains(schema.primaryKey[0])
    return isComputed || hasNumber || search.columns.isEmpty ? nil : search.columns
  }

  private var isComputed: Bool {
    search.columns.contains { schema.column(named: $0)?.isGenerated == true }
  }

  /// The columns of the new row.
  ///
  /// Before an update SQLite reads those only that the trigger names, and computes others from nothing where it does not
  /// name what they are made of.
  private var candidateColumns: [String] {
    guard isComputed else { return search.columns }
    return search.columns
      + schema.writableColumns.map(\.name).filter { !search.columns.contains($0) }
  }

  /// Where such a row is looked for, from FROM on.
  ///
  /// - Parameter condition: Which rows are not meant, as SQL on the table's own name.
  /// - Returns: The SQL.
  package func source(unless condition: String) -> String {
    let name = schema.name.quotedName
    let candidate = candidateColumns.map { "\(value(of: $0)) AS \($0.quotedName)" }
    let columns = candidate.isEmpty ? "NULL" : candidate.joined(separator: ", ")
    let filter = search.predicate.map { " WHERE (\($0))" } ?? ""
    let terms = search.terms.map { term in
      let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
      let wanted = "(SELECT \(term.sql) FROM (SELECT \(columns)) AS \(name)\(filter))"
      return "\(term.sql)\(collation) = \(wanted)"
    }
    let isOther = ["NOT (\(condition))"]
    let conditions = terms + (search.predicate.map { ["(\($0))"] } ?? []) + isOther
    return "FROM \(name) WHERE \(conditions.joined(separator: " AND ")) LIMIT 1"
  }

  /// What the new row is going to hold: `OR REPLACE` gives columns that must not be NULL their defaults.
  private func value(of name: String) -> String {
    let new = "new.\(name.quotedName)"
    guard let column = schema.column(named: name), column.isNotNull,
      let initial = column.defaultSQL
    else { return new }
    return "coalesce(\(new), (\(initial)))"
  }
}
