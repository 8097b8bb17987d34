/// The tables of a database.
package struct DatabaseSchema: Sendable, Hashable {
  /// What a name stands for in a database.
  package enum ObjectKind: Sendable, Hashable {
    /// A table that can be synchronized.
    case table
    case view
    case virtualTable
    /// A table that keeps what a virtual table shows.
    case shadowTable
    /// A table of SQLite's or of the engine's.
    case internalTable
    case missing
  }

  /// Something with a name that cannot be synchronized.
  package struct OtherObject: Sendable, Hashable {
    package var name: String
    package var kind: ObjectKind
  }

  /// By name, in the order of its bytes.
  package var tables: [TableSchema]
  /// What else could be taken for a table, by name.
  package var otherObjects: [OtherObject]

  package init(tables: [TableSchema], otherObjects: [OtherObject] = []) {
    self.tables = tables
    self.otherObjects = otherObjects
  }

  /// The table of a name; SQLite does not tell `A` to `Z` from `a` to `z` in names.
  package func table(named name: String) -> TableSchema? {
    tables.first { $0.name.isSameName(as: name) }
  }

  /// What a name stands for.
  package func kind(ofObjectNamed name: String) -> ObjectKind {
    if table(named: name) != nil { return .table }
    return otherObjects.first { $0.name.isSameName(as: name) }?.kind ?? .missing
  }
}
