import CloudSyncSQLiteSchema

/// Which changes of a table's rows have SQLite write references to them by itself, and what it does to the values that
/// triggers are told.
struct ReferenceActions: Sendable, Hashable {
  /// The columns on whose change it does, sorted by their bytes.
  var updatedColumns: [String] = []
  /// Whether it does when a row is deleted; where it deletes the rows that refer to it nothing is written.
  var followDeletions = false
  /// The columns whose former values SQLite does not tell `AFTER` triggers as they were, sorted by their bytes.
  ///
  /// It looks for the rows that refer to one which is changed or deleted, and converts the value that it looks for to
  /// the type of the other table's column: of `'007'` a reference in an `INTEGER` makes 7.
  var convertedColumns: [String] = []

  /// The columns whose changes are announced.
  var announcedColumns: [String] { updatedColumns + convertedColumns }

  init() {}

  /// Those of a table, by all foreign keys of the database.
  init(on table: TableSchema, of references: [TableReference]) {
    let own = references.filter { $0.parent.name == table.name }
    let updating = own.filter { Self.writes($0.key.onUpdate) }
    updatedColumns = Set(updating.flatMap(\.key.referencedColumns)).sortedByBytes()
    followDeletions = own.contains { Self.writesOnDeletion($0.key.onDelete) }
    convertedColumns = Set(own.flatMap(Self.convertedColumns)).sortedByBytes()
  }

  /// The columns of the parent that are looked for by values of another type.
  private static func convertedColumns(by reference: TableReference) -> [String] {
    zip(reference.key.referencedColumns, reference.key.columns)
      .compactMap { parent, child in
        guard let own = reference.parent.column(named: parent)?.affinity,
          let other = reference.child.column(named: child)?.affinity, other != own, other != .blob
        else { return nil }
        return parent
      }
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
