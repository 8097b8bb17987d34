import CloudSyncSQLiteSchema

/// Which changes of a table's rows have SQLite write references to them by itself.
struct ReferenceActions: Sendable, Hashable {
  /// The columns on whose change it does, sorted by their bytes.
  var updatedColumns: [String] = []
  /// Whether it does when a row is deleted; where it deletes the rows that refer to it nothing is written.
  var followDeletions = false

  init() {}

  /// Those of a table, by all foreign keys of the database.
  init(on table: TableSchema, of references: [TableReference]) {
    let own = references.filter { $0.parent.name == table.name }
    let updating = own.filter { Self.writes($0.key.onUpdate) }
    updatedColumns = Set(updating.flatMap(\.key.referencedColumns)).sortedByBytes()
    followDeletions = own.contains { Self.writesOnDeletion($0.key.onDelete) }
  }

  /// Whether an action sets a reference when the key changes that it refers to.
  static func writes(_ action: TableSchema.Action) -> Bool {
    switch action {
    case .cascade, .setNull, .setDefault: true
    case .restrict, .noAction: false
    }
  }

  /// Whether an action sets a reference when the row is deleted that it refers to.
  static func writesOnDeletion(_ action: TableSchema.Action) -> Bool {
    action == .setNull || action == .setDefault
  }
}
