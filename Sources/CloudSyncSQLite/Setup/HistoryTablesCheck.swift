import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table belongs to an engine or to a history of changesets, never to both: each would take the other's writes for
/// edits of the app's.
struct HistoryTablesCheck {
  let connection: SQLiteConnection

  /// Throws if a history is kept of one of the tables, or of one that a foreign key ties to them.
  func check(_ names: [String], in schema: DatabaseSchema) throws(SyncEngineError) {
    let found = try sqlite { () throws(SQLiteError) in try violations(of: names, in: schema) }
    if let first = found.first { throw SyncEngineError(.schema, first.reason) }
  }

  /// The tables of which a history is kept, and those of histories that refer to the tables.
  func violations(
    of names: [String],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> [SchemaViolation] {
    let kept = try tables()
    let own = kept.filter { name in names.contains { $0.isSameName(as: name) } }
      .map { name in
        SchemaViolation(
          .historyTable,
          table: name,
          reason:
            "Table \(name.quotedName) has a history of changesets; a table has a history or an engine."
        )
      }
    let tied = schema.references.compactMap { reference -> SchemaViolation? in
      let (child, parent) = (reference.child.name, reference.parent.name)
      guard kept.contains(where: { $0.isSameName(as: child) }),
        names.contains(where: { $0.isSameName(as: parent) })
      else { return nil }
      return SchemaViolation(
        .historyTable,
        table: child,
        reason:
          "Table \(child.quotedName), which has a history of changesets, refers to table \(parent.quotedName)."
      )
    }
    return own + tied
  }

  private func tables() throws(SQLiteError) -> [String] {
    let count = try connection.integer(
      "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'changesets_tables'"
    )
    if count == 0 { return [] }
    return try connection.prepare("SELECT name FROM main.changesets_tables ORDER BY name")
      .mapRows { $0.text(0) ?? "" }
  }
}
