import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table that engines have synchronized, and this one leaves out.
struct LeftOutTable: Sendable {
  let id: Int64
  let name: String
  /// Whether SQLite changes or deletes its rows with those that they refer to.
  let followsParents: Bool
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
        let own = references.filter { $0.child.name == table.name }
        return LeftOutTable(
          id: table.id,
          name: table.name,
          followsParents: own.contains { follows($0.key.onDelete) || follows($0.key.onUpdate) }
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
