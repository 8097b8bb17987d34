/// A line of commits that has a name.
public struct Branch: Sendable, Hashable {
  /// Its name.
  public let name: String
  /// Its ends; several are to be merged, and a branch that was begun on the empty database has none.
  public let heads: [ChangesetID]
  /// Whether commits are made on it now.
  public let isCurrent: Bool
  /// Whether another replica has deleted it while it is the present one here: the next commit on it brings it back for
  /// all, and without one it goes once another branch is switched to.
  public let isDeleted: Bool
}

/// A name of a commit.
public struct Tag: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The commit.
  public let id: ChangesetID
}
