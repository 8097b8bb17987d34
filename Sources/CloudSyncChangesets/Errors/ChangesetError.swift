/// What goes wrong between a history and its database or cloud.
public struct ChangesetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing went wrong; more may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The schema stands in the way.
    public static let schema = Self(rawValue: "schema")
    /// Rows were changed since HEAD and are not committed.
    public static let uncommittedChanges = Self(rawValue: "uncommittedChanges")
    /// An old commit is checked out, on which nothing can be committed.
    public static let detached = Self(rawValue: "detached")
    /// A branch has several heads, which ``ChangesetRepository/mergeAll(_:)`` joins.
    public static let unmerged = Self(rawValue: "unmerged")
    /// There is no such commit.
    public static let noSuchRevision = Self(rawValue: "noSuchRevision")
    /// Several commits are called so.
    public static let ambiguousRevision = Self(rawValue: "ambiguousRevision")
    /// There is no such branch.
    public static let noSuchBranch = Self(rawValue: "noSuchBranch")
    /// No branch, tag or replica can be called so.
    public static let invalidName = Self(rawValue: "invalidName")
    /// A commit has a schema that this app does not know: a newer version does.
    public static let needsUpgrade = Self(rawValue: "needsUpgrade")
    /// The tables were changed without ``ChangesetRepository/migrate(_:options:_:)``.
    public static let needsMigration = Self(rawValue: "needsMigration")
    /// Commits are of a database with other tables.
    public static let schemaMismatch = Self(rawValue: "schemaMismatch")
    /// A row is not what the history says.
    public static let diverged = Self(rawValue: "diverged")
    /// The history, or the database's file, is damaged.
    public static let damaged = Self(rawValue: "damaged")
    /// A commit is larger than commits can be.
    public static let tooLarge = Self(rawValue: "tooLarge")
    /// The commits that this replica builds on were squashed meanwhile; ``ChangesetRemote/rebase()`` helps.
    public static let behindHorizon = Self(rawValue: "behindHorizon")
    /// The changes of old commits were removed.
    public static let historyTooShort = Self(rawValue: "historyTooShort")
    /// It was written by a newer version.
    public static let newerVersion = Self(rawValue: "newerVersion")
    /// Another account is signed in.
    public static let accountChanged = Self(rawValue: "accountChanged")
    /// The cloud's zone holds something else.
    public static let foreignCloud = Self(rawValue: "foreignCloud")
    /// The cloud failed.
    public static let cloud = Self(rawValue: "cloud")
    /// A call cannot be made from here.
    public static let misuse = Self(rawValue: "misuse")
    /// The file is no database.
    public static let notADatabase = Self(rawValue: "notADatabase")
    /// The file cannot be opened or written.
    public static let cannotAccess = Self(rawValue: "cannotAccess")
    /// Another connection keeps the database locked.
    public static let busy = Self(rawValue: "busy")
    /// The disk is full.
    public static let full = Self(rawValue: "full")
    /// The host has interrupted the connection's work.
    public static let interrupted = Self(rawValue: "interrupted")
    /// A statement failed.
    public static let statement = Self(rawValue: "statement")
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// The file, where there is one.
  public let path: String?
  /// What is wrong and what to do, in a sentence or two.
  public let reason: String

  /// Creates an error.
  public init(_ code: Code, path: String? = nil, _ reason: String) {
    self.code = code
    self.path = path
    self.reason = reason
  }

  /// The file and the reason in one line.
  public var description: String { path.map { "\($0): \(reason)" } ?? reason }
}

extension ChangesetError {
  /// That commits of this copy go on from where the others' history does not begin any more.
  static let behindHorizon = ChangesetError(
    .behindHorizon,
    "the history was squashed meanwhile, and commits of this copy go on from before that; “rebase” puts what they"
      + " changed on top of it"
  )

  /// That an older commit is checked out, on which nothing can be committed.
  static let onOlderCommit = ChangesetError(
    .detached,
    "an older commit is checked out, on which nothing can be committed; create a branch and switch to it: rows"
      + " that are not committed go along"
  )
}
