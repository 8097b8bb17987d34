package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension UniqueKeySearch {
  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  package func sql(in table: TableSchema, candidate: [String], ownKey: String) -> String {
    let name = table.name.quotedName
    let columns = zip(candidate, table.writableColumns)
      .map { "\($0) AS \($1.name.quotedName)" }
    let row = "(SELECT \(columns.joined(separator: ", "))) AS \(name)"
    let filter = predicate.map { " WHERE (\($0))" } ?? ""
    let conditions =
      terms.map { term in
        let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
        return "\(term.sql)\(collation) = (SELECT \(term.sql) FROM \(row)\(filter))"
      } + (predicate.map { ["(\($0))"] } ?? []) + ["NOT (\(ownKey))"]
    let key = table.primaryKey.map(\.quotedName).joined(separator: ", ")
    return
      "SELECT \(key) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(key)"
  }
}
