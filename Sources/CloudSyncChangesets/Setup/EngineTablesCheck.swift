import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table belongs to a history or to a `SyncEngine`, never to both: each would take the other's writes for edits.
struct EngineTablesCheck {
  let connection: HistoryConnection

  /// Throws if an engine synchronizes one of the tables, or one that is tied to them by a foreign key.
  func check(tables: [String], in schema: DatabaseSchema) throws(ChangesetError) {
    let engine = try engineTables()
    for name in engine {
      if let table = tables.first(where: { $0.isSameName(as: name) }) {
        throw ChangesetError(
          .schema,
          "table \(table.quotedName) is synchronized by SyncEngine; a table has a history or an engine"
        )
      }
    }
    for reference in schema.references {
      let (child, parent) = (reference.child.name, reference.parent.name)
      let isTied =
        tables.contains(where: { $0.isSameName(as: parent) })
        && engine.contains(where: { $0.isSameName(as: child) })
      if isTied {
        throw ChangesetError(
          .schema,
          "table \(child.quotedName), which SyncEngine synchronizes, refers to table \(parent.quotedName)"
        )
      }
    }
  }

  /// The tables that an engine synchronizes.
  func engineTables() throws(ChangesetError) -> [String] {
    guard try connection.hasTable("cloudsync_tables") else { return [] }
    return try connection.rows(
      "SELECT name FROM main.cloudsync_tables WHERE is_synchronized ORDER BY name"
    ) { $0.text(0) ?? "" }
  }
}
