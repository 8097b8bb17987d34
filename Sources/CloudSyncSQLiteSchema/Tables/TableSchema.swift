/// A table as the database declares it.
package struct TableSchema: Sendable, Hashable {
  /// A column.
  package struct Column: Sendable, Hashable {
    package var name: String
    /// The type as declared; empty if there is none.
    package var type: String
    package var isNotNull: Bool
    /// Whether `NOT NULL` says `ON CONFLICT REPLACE`: NULL then means the default.
    package var replacesNull: Bool
    /// The default as SQL; nil if there is none.
    package var defaultSQL: String?
    /// Whether its value is computed from others.
    package var isGenerated: Bool
    /// By what its text is compared; nil if by bytes.
    package var collation: String?
  }

  /// What happens to a row when the row that it refers to goes or changes its key.
  package enum Action: String, Sendable, Hashable {
    case noAction = "NO ACTION"
    case restrict = "RESTRICT"
    case setNull = "SET NULL"
    case setDefault = "SET DEFAULT"
    case cascade = "CASCADE"
  }

  /// A foreign key.
  package struct ForeignKey: Sendable, Hashable {
    package var columns: [String]
    /// The table it refers to, which may be missing.
    package var table: String
    /// The columns it refers to: those of the primary key if the declaration names none; empty if
    /// the table is none of the schema's.
    package var referencedColumns: [String]
    package var onDelete: Action
    package var onUpdate: Action

    package init(
      columns: [String],
      table: String,
      referencedColumns: [String],
      onDelete: Action,
      onUpdate: Action
    ) {
      self.columns = columns
      self.table = table
      self.referencedColumns = referencedColumns
      self.onDelete = onDelete
      self.onUpdate = onUpdate
    }
  }

  /// A unique key beside the primary one.
  package struct UniqueKey: Sendable, Hashable {
    /// The name of its index.
    package var name: String
    /// Its columns; nil in place of an expression.
    package var columns: [String?]
    /// The name of each column's collation, as SQLite compares it here.
    package var collations: [String]
    /// Whether it holds for some rows only.
    package var isPartial: Bool
    /// Whether a table's declaration made it, rather than CREATE UNIQUE INDEX.
    package var isConstraint: Bool
  }

  package var name: String
  /// All columns but hidden ones, in order.
  package var columns: [Column]
  /// The columns of the primary key, in the key's order; empty if there is none.
  package var primaryKey: [String]
  package var foreignKeys: [ForeignKey]
  package var uniqueKeys: [UniqueKey]
  package var isWithoutRowID: Bool
  package var isStrict: Bool
  /// Whether the one column of the key is another name of the row's number.
  package var hasIntegerKey: Bool
  /// The table's declaration.
  package var sql: String
  /// The declarations of its indexes and triggers, in the order in which they were made.
  package var dependentSQL: [String]
  /// The columns of the primary key that its index compares by another collation than the column's own.
  package var foreignlyCollatedKey: [String] = []

  /// The columns that can be written: all but generated ones.
  package var writableColumns: [Column] { columns.filter { !$0.isGenerated } }

  /// The columns of the primary key that may hold NULL, as SQLite lets those of ordinary tables.
  package var nullableKeyColumns: [String] {
    if hasIntegerKey || isWithoutRowID { return [] }
    return primaryKey.filter { column(named: $0)?.isNotNull == false }
  }

  /// Whether a constraint of it says what becomes of a statement that it stands against.
  package var hasConflictRules: Bool { SQLText(sql).hasWord("CONFLICT") }

  package func column(named name: String) -> Column? {
    columns.first { $0.name.isSameName(as: name) }
  }

  /// A name of the row's number that is no column's; nil if there is none.
  package var rowNumberName: String? {
    isWithoutRowID ? nil : ["rowid", "_rowid_", "oid"].first { column(named: $0) == nil }
  }
}
