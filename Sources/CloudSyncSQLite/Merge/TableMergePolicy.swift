/// What becomes of a row that one device deletes while another edits it.
///
/// All devices should say the same of a table. Where they do not they end with the same rows all the same, as the record
/// tells: what one has deleted for whom deletions win comes back with an edit of one for whom edits win, unless the edit
/// was sent before.
public enum DeletePolicy: Sendable, Hashable, CaseIterable {
  /// The row is gone, and with it the edits that did not know of the deletion.
  ///
  /// A row that is made again under its key, after the deletion, stays.
  case deleteWins
  /// The row stays, or comes back, with the edits that whoever deleted it had not seen.
  ///
  /// The newest edit of a column counts: one that the deleting device has itself replaced before is gone.
  /// Its deletion travels as a mark in the record, which an edit takes back; the record itself is
  /// never deleted, since a cloud deletes whatever has been edited meanwhile.
  case editWins
}

/// How the rows of a table are merged.
public struct TableMergePolicy: Sendable {
  /// The policy of the columns that have none of their own.
  public var defaultPolicy: MergePolicy
  /// Policies by the column's name, as the table declares it.
  public var columns: [String: MergePolicy]
  /// What becomes of rows that are deleted here and edited there.
  public var deletes: DeletePolicy

  /// Creates a policy.
  public init(
    defaultPolicy: MergePolicy = .newest,
    columns: [String: MergePolicy] = [:],
    deletes: DeletePolicy = .deleteWins
  ) {
    self.defaultPolicy = defaultPolicy
    self.columns = columns
    self.deletes = deletes
  }

  package func policy(for column: String) -> MergePolicy { columns[column] ?? defaultPolicy }
}
