public import CloudSyncCore

/// Which commits a log is of.
public struct LogQuery: Sendable, Hashable {
  /// The commit to begin with; nil for HEAD, or the heads of ``branch``.
  public var revision: Revision?
  /// Whose heads to begin with.
  public var branch: String?
  /// Whether to begin with all heads of all branches.
  public var isOfAllBranches: Bool
  /// Only commits that have changed this table.
  public var table: String?
  /// Only commits that have changed the row of this key in ``table``.
  public var key: [FieldValue]?
  /// How many commits at most.
  public var count: Int?

  /// Creates a query; without arguments it is for all commits that HEAD is made of.
  public init(
    revision: Revision? = nil,
    branch: String? = nil,
    isOfAllBranches: Bool = false,
    table: String? = nil,
    key: [FieldValue]? = nil,
    count: Int? = nil
  ) {
    self.revision = revision
    self.branch = branch
    self.isOfAllBranches = isOfAllBranches
    self.table = table
    self.key = key
    self.count = count
  }
}

/// The commit that wrote a column of a row.
public struct CellOrigin: Sendable, Hashable {
  /// The column.
  public let column: String
  /// What it holds; NULL if it held something before.
  public let value: FieldValue
  /// The commit that wrote it.
  public let changeset: Changeset
}

/// What a comparison of a history with itself and with the rows has found.
public struct VerifyReport: Sendable, Hashable {
  /// How many rows were compared.
  public let rowCount: Int
  /// How many commits were compared.
  public let commitCount: Int
  /// What is not as it should be, in a sentence each; none if all is well.
  public let problems: [String]

  package init(rowCount: Int, commitCount: Int, problems: [String]) {
    self.rowCount = rowCount
    self.commitCount = commitCount
    self.problems = problems
  }
}
