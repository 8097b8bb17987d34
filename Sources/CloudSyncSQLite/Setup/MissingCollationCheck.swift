import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Whether a connection has the collations that tables are declared with: an app registers some of its own.
struct MissingCollationCheck {
  let connection: SQLiteConnection

  /// The tables that cannot be read or written on the connection for want of a collation.
  func violations(of names: [String], in schema: DatabaseSchema) -> [SchemaViolation] {
    names.compactMap { schema.table(named: $0) }.compactMap(violation)
  }

  private func violation(of table: TableSchema) -> SchemaViolation? {
    let name = "main.\(table.name.quotedName)"
    let columns = table.writableColumns.map(\.name.quotedName)
    // Nothing is run: SQLite looks for collations of indexes where it prepares a write, and for those of columns where it sorts.
    let statements =
      ["DELETE FROM \(name)", "SELECT count(*) FROM \(name)"]
      + columns.map { "SELECT 1 FROM \(name) ORDER BY \($0)" }
    for sql in statements {
      do throws(SQLiteError) { _ = try connection.prepare(sql) } catch {
        // Whatever else is wrong is somebody else's to tell.
        guard error.message.hasPrefix("no such collation sequence") else { continue }
        return SchemaViolation(
          .missingCollation,
          table: table.name,
          reason:
            "Table \(table.name.quotedName) cannot be read or written on this connection: \(error.message)."
            + " Only a connection on which the app has registered it can sync the table."
        )
      }
    }
    return nil
  }
}
