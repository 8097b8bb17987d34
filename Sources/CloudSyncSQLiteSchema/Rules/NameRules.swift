/// Which names of tables and columns a cloud can hold.
package struct NameRules: Sendable {
  /// How many bytes a table's name may have as the cloud spells it.
  let maximumTableByteCount: Int
  /// How many bytes a column's name may have as the cloud spells it.
  let maximumColumnByteCount: Int
  let acceptsTable: @Sendable (String) -> Bool
  let acceptsColumn: @Sendable (String) -> Bool

  package init(
    maximumTableByteCount: Int,
    maximumColumnByteCount: Int,
    acceptsTable: @escaping @Sendable (String) -> Bool,
    acceptsColumn: @escaping @Sendable (String) -> Bool
  ) {
    self.maximumTableByteCount = maximumTableByteCount
    self.maximumColumnByteCount = maximumColumnByteCount
    self.acceptsTable = acceptsTable
    self.acceptsColumn = acceptsColumn
  }
}
