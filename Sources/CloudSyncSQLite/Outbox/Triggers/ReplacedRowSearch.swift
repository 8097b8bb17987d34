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

  /// Where such rows are looked for, each from FROM on.
  ///
  /// They may be more than the one that is written over, which nobody is told of: whether the new row is one of those that
  /// a partial index is for is not asked, and what an expression is of a row with a value of another type than its
  /// column's is not compared.
  ///
  /// - Parameter condition: Which rows are not meant, as SQL on the table's own name.
  /// - Returns: The SQL.
  package func sources(unless condition: String) -> [String] {
    let row = CandidateRow(
      of: schema,
      values: candidateColumns.map { ($0, value(of: $0)) }
    )
    func source(_ terms: [String], if more: String?) -> String {
      let conditions =
        terms + [search.predicate.map { "(\($0))" }, "NOT (\(condition))", more].compactMap { $0 }
      return "FROM \(schema.name.quotedName) WHERE \(conditions.joined(separator: " AND "))"
    }
    let terms = search.terms.map { term in
      let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
      let column = term.column.flatMap { schema.column(named: $0) }
      // What a computed column is made of has to be named for an update.
      let isStored = column?.isGenerated == false
      let wanted = column.flatMap { isStored ? value(of: $0.name) : nil } ?? row.query(term.sql)
      return "\(term.sql)\(collation) = \(wanted)"
    }
    let first = source(terms, if: nil) + " LIMIT 1"
    let plain = zip(search.terms, terms).filter { $0.0.column != nil }.map(\.1)
    guard plain.count < terms.count, let isForeign = row.isForeign else { return [first] }
    return [first, source(plain, if: isForeign)]
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
