package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension UniqueKeySearch {
  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  package func sql(in table: TableSchema, candidate: [String], ownKey: String) -> String {
    let name = table.name.quotedName
    let values = zip(candidate, table.writableColumns).map { (column: $1.name, value: $0) }
    let isStored = columns.allSatisfy { column in values.contains { $0.column == column } }
    // What a computed column is made of may be any of the others.
    let row = CandidateRow(
      of: table,
      values: isStored ? values.filter { columns.contains($0.column) } : values
    )
    let conditions =
      terms.map { term in
        let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
        let own = predicate == nil ? values.first { $0.column == term.column }?.value : nil
        return "\(term.sql)\(collation) = \(own ?? row.query(term.sql, if: predicate))"
      } + (predicate.map { ["(\($0))"] } ?? []) + ["NOT (\(ownKey))"]
    let key = table.primaryKey.map(\.quotedName).joined(separator: ", ")
    return
      "SELECT \(key) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(key)"
  }
}
