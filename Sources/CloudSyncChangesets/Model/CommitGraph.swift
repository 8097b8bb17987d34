package import CloudSyncSQLiteSupport

/// What a graph of commits offers to a merge.
package protocol CommitGraph {
  /// What a commit says of itself.
  func header(of id: ChangesetID) throws(ChangesetError) -> CommitHeader

  /// The net changes from one state to another, nil being the empty database: those of the path between
  /// them in the tree of first parents.
  ///
  /// A cell has the time of the commit that wrote it, or the one that a merge has kept; what the path takes
  /// back on its way up has the time of its end.
  func changes(from: ChangesetID?, to: ChangesetID?) throws(ChangesetError) -> StateDelta

  /// The row of a key in a state: its cells that are not NULL, without those of the key; nil if there is none.
  func row(
    _ key: RowKey,
    of table: String,
    at id: ChangesetID?
  ) throws(ChangesetError) -> [CellValue]?
}

/// A column's value.
package struct CellValue: Sendable, Hashable {
  package var column: String
  package var value: SQLiteValue

  package init(_ column: String, _ value: SQLiteValue) {
    self.column = column
    self.value = value
  }
}
