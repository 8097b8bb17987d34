package import CloudSyncSQLiteSupport

/// What a graph of commits offers to a merge.
package protocol CommitGraph {
  /// What a commit says of itself.
  func header(of id: ChangesetID) throws(ChangesetError) -> CommitHeader

  /// The net changes of some that lead to a state, and of the path from there to another, nil being the empty
  /// database, in the tree of first parents.
  ///
  /// A cell has the time of the commit that wrote it last, or the one that a merge has kept; what the path takes
  /// back on its way up has the time of its end. The changes are put together one after the other, so that a
  /// cell which was changed and set back keeps the time of that. They tell of tables and columns by their present names.
  func changes(
    after former: StateDelta,
    from: ChangesetID?,
    to: ChangesetID?,
    as names: PresentNames
  ) throws(ChangesetError) -> StateDelta

  /// What is called otherwise now than before some migrations, which are asked for if anything may be.
  func presentNames(
    after migrations: () throws(ChangesetError) -> [ChangesetID]
  ) throws(ChangesetError) -> PresentNames

  /// The row of a key in a state: its cells that are not NULL, without those of the key; nil if there is none.
  func row(
    _ key: RowKey,
    of table: String,
    at id: ChangesetID?
  ) throws(ChangesetError) -> [CellValue]?

  /// What a row that is there at a commit was inserted with: its cells that are not NULL; nil if it was inserted by one
  /// that some bases descend from, of which a copy may have no changes any more.
  ///
  /// A row that a merge has brought to a line was inserted where that merge has it from.
  func beginning(
    of key: RowKey,
    in table: String,
    at id: ChangesetID,
    beside bases: [ChangesetID],
    as names: PresentNames
  ) throws(ChangesetError) -> [CellValue]?

  /// The commits that a commit descends from, itself too, which stand for originals that others stand for as well.
  func doubles(before id: ChangesetID) throws(ChangesetError) -> Set<RebasedCommit>
}

/// A commit that stands for others from before a squash.
package struct RebasedCommit: Sendable, Hashable {
  package var id: ChangesetID
  package var originals: Set<ChangesetID>

  package init(_ id: ChangesetID, originals: Set<ChangesetID>) {
    (self.id, self.originals) = (id, originals)
  }
}

extension CommitGraph {
  package func doubles(before id: ChangesetID) throws(ChangesetError) -> Set<RebasedCommit> { [] }

  package func beginning(
    of key: RowKey,
    in table: String,
    at id: ChangesetID,
    beside bases: [ChangesetID],
    as names: PresentNames
  ) throws(ChangesetError) -> [CellValue]? { nil }

  package func presentNames(
    after migrations: () throws(ChangesetError) -> [ChangesetID]
  ) throws(ChangesetError) -> PresentNames { PresentNames() }

  /// The net changes from one state to another.
  package func changes(
    from: ChangesetID?,
    to: ChangesetID?
  ) throws(ChangesetError) -> StateDelta {
    try changes(after: StateDelta(), from: from, to: to, as: PresentNames())
  }
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
