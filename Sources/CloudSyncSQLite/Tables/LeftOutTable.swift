import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table that engines have synchronized, and this one leaves out.
struct LeftOutTable: Sendable {
  let id: Int64
  /// The numbers of the columns by which SQLite changes or deletes its rows with those that they refer to; none if it does not.
  let followed: [Int]
}

extension LeftOutTable {
  /// Those of the registered tables that an engine leaves out.
  static func all(
    among registered: [RegisteredTable],
    but own: [String],
    references: [TableReference]
  ) -> [LeftOutTable] {
    registered.filter { !own.contains($0.name) }
      .map { table in
        let followed = references.filter { reference in
          reference.child.name == table.name
            && (follows(reference.key.onDelete) || follows(reference.key.onUpdate))
        }
        let columns = followed.flatMap(\.key.columns)
        return LeftOutTable(
          id: table.id,
          followed: table.columns.indices.filter { columns.contains(table.columns[$0]) }
        )
      }
  }

  private static func follows(_ action: TableSchema.Action) -> Bool {
    switch action {
    case .cascade, .setNull, .setDefault: true
    case .noAction, .restrict: false
    }
  }
}
