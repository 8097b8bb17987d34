package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension UniqueKeySearch {
  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  package func sql(in table: TableSchema, candidate: [String], ownKey: String) -> String {
    let values = zip(candidate, table.writableColumns).map { (column: $1.name, value: $0) }
    let isStored = columns.allSatisfy { column in values.contains { $0.column == column } }
    // What a computed column is made of may be any of the others.
    let row = CandidateRow(
      of: table,
      values: isStored ? values.filter { columns.contains($0.column) } : values
    )
    let condition = condition(unless: ownKey) { term in
      let own = predicate == nil ? values.first { $0.column == term.column }?.value : nil
      return own ?? row.query(term.sql, if: predicate)
    }
    let key = table.primaryKey.map(\.quotedName).joined(separator: ", ")
    return "SELECT \(key) FROM \(table.name.quotedName) WHERE \(condition) ORDER BY \(key)"
  }
}
