public import CloudSyncCore
public import CloudSyncSQLite

/// A row that two commits have both changed, as a handler sees it.
public struct RowConflict: Sendable, Hashable {
  /// The table.
  public let table: String
  /// The values of the row's primary key.
  public let key: [FieldValue]
  /// The columns in question.
  public let columns: [String]
  /// The row that both started from, by column, without NULLs and the key; nil if there was none.
  public let base: [String: FieldValue]?
  /// The row of ``oursCommit``; nil if it is gone.
  public let ours: [String: FieldValue]?
  /// The row of ``theirsCommit``; nil if it is gone.
  public let theirs: [String: FieldValue]?
  /// The commit with the smaller identifier: on every replica the same.
  public let oursCommit: Changeset
  /// The other commit.
  public let theirsCommit: Changeset
}

/// What becomes of a row that two commits have both changed.
public enum Resolution: Sendable, Hashable {
  /// What the policies of its table say.
  case automatic
  /// What the policies say, but for these columns.
  case row([String: FieldValue])
  /// The row goes.
  case delete
  /// It is asked about until somebody answers: the commits are not merged before.
  case later
}

/// A row of which a merge has lost something, or about which it waits for an answer.
public struct ChangesetConflict: Sendable, Hashable {
  /// What it was about; more may be added.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    /// The kind's name.
    public let rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Both changed a column.
    public static let cell = Kind(rawValue: "cell")
    /// One deleted the row, the other changed it.
    public static let deletion = Kind(rawValue: "deletion")
    /// Both inserted a row under one key.
    public static let insertion = Kind(rawValue: "insertion")
    /// Two rows held the same values of a unique key.
    public static let unique = Kind(rawValue: "unique")
    /// The row referred to one that is gone.
    public static let foreignKey = Kind(rawValue: "foreignKey")
    /// The row broke a rule of its table.
    public static let check = Kind(rawValue: "check")
    /// The tables here do not take the row: it breaks a rule that others' tables do not have.
    public static let parked = Kind(rawValue: "parked")
    /// A handler has said ``Resolution/later``.
    public static let question = Kind(rawValue: "question")
  }

  /// A value, and when it was written.
  public struct Cell: Sendable, Hashable {
    /// The column.
    public let column: String
    /// The value.
    public let value: FieldValue
    /// When it was written.
    public let time: HybridTime
  }

  /// The merge that decided; nil for a question, and for a row that is parked here.
  public let merge: ChangesetID?
  /// Its place among the merge's decisions.
  public let number: Int
  /// The table.
  public let table: String
  /// The values of the row's primary key.
  public let key: [FieldValue]
  /// What it is about.
  public let kind: Kind
  /// The columns in question.
  public let columns: [String]
  /// Whether the row is out of the table because of it: then ``lost`` is all of it.
  public let isSetAside: Bool
  /// What the row holds instead.
  public let kept: [Cell]
  /// What it would have held.
  public let lost: [Cell]
  /// What is asked; nil for a decision.
  public let question: RowConflict?

  /// Whether what a merge has dropped is that one side has deleted the row.
  package var hasDroppedDeletion: Bool { kind == .deletion && !isSetAside && lost.isEmpty }
}
