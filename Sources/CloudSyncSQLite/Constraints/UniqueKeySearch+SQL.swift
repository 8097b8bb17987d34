package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension UniqueKeySearch {
  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  package func sql(in table: TableSchema, candidate: [String], ownKey: String) -> String {
    let name = table.name.quotedName
    let row = CandidateRow(
      of: table,
      values: zip(candidate, table.writableColumns).map { ($1.name, $0) }
    )
    let conditions =
      terms.map { term in
        let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
        return "\(term.sql)\(collation) = \(row.query(term.sql, if: predicate))"
      } + (predicate.map { ["(\($0))"] } ?? []) + ["NOT (\(ownKey))"]
    let key = table.primaryKey.map(\.quotedName).joined(separator: ", ")
    return
      "SELECT \(key) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(key)"
  }
}
