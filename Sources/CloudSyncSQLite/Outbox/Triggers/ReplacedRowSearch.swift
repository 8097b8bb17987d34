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
  /// It may be one that is not written over, which nobody is told of: where only columns are compared, whether the new row
  /// is one of those that a partial index is for is not asked. An expression is computed for those only: of others it may fail.
  ///
  /// - Parameter condition: Which rows are not meant, as SQL on the table's own name.
  /// - Returns: The SQL.
  package func source(unless condition: String) -> String {
    let row = CandidateRow(of: schema, values: candidateColumns.map { ($0, value(of: $0)) })
    let condition = search.condition(unless: condition) { term in
      // What a computed column is made of has to be named for an update.
      guard let name = term.column, schema.column(named: name)?.isGenerated == false else {
        return row.query(term.sql, if: search.predicate)
      }
      return value(of: name)
    }
    return "FROM \(schema.name.quotedName) WHERE \(condition) LIMIT 1"
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
