public import CloudSyncCore
public import CloudSyncSQLite

/// A commit of a history, without its changes.
public struct Changeset: Sendable, Hashable, Identifiable {
  /// How a commit came about.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// Rows were edited.
    case edit
    /// Two commits were put together.
    case merge
    /// A migration changed the tables.
    case migration
  }

  /// Its identifier: the digest of all that it says.
  public let id: ChangesetID
  /// The commits before it: none for the first, two for a merge.
  ///
  /// The first of a merge is the one that was made on the branch of the merge. Where both or neither were, it is the one
  /// with more changes, the same on all replicas.
  public let parents: [ChangesetID]
  /// How it came about.
  public let kind: Kind
  /// The branch that it was made on.
  public let branch: String
  /// One more than the largest of its parents'.
  public let generation: Int
  /// When it was made; of a merge, when the later of its parents was.
  public let time: HybridTime
  /// Who made it; nil for merges and migrations, which are nobody's.
  public let replica: String?
  /// What the app has said of it; JSON by custom.
  public let meta: String
  /// The digest of the schema of its state, in hexadecimal digits.
  public let schema: String
  /// The hash of the state that it leads to, in hexadecimal digits.
  public let stateHash: String
  /// The commit that it takes back.
  public let reverts: ChangesetID?
  /// The commits from before a squash that it puts on top of it, for whoever made them.
  ///
  /// Several replicas may rebase one commit: what it changed counts once.
  public let originals: [ChangesetID]
  /// Whether it is known to be in the cloud.
  public let isPushed: Bool

  /// The identifier as text.
  public var uuid: String { id.description }
  /// The first parent's identifier as text.
  public var parentUUID: String? { parents.first?.description }
  /// The second parent's identifier as text.
  public var mergeUUID: String? { parents.count > 1 ? parents[1].description : nil }
}

extension Changeset {
  init(id: ChangesetID, _ header: CommitHeader, isPushed: Bool) {
    self.id = id
    parents = header.parents
    kind =
      switch header.kind {
      case .edit: .edit
      case .merge: .merge
      case .migration: .migration
      }
    branch = header.branch
    generation = Int(header.generation)
    time = header.time
    replica = header.kind == .edit ? header.replica : nil
    meta = header.meta
    schema = header.schema.digest.text
    stateHash = header.stateHash.text
    reverts = header.reverts
    originals = header.originals
    self.isPushed = isPushed
  }
}

/// Where a database's rows are in its history.
public struct Head: Sendable, Hashable {
  /// The branch that commits are made on.
  public let branch: String
  /// The commit whose state the rows are, apart from what is not committed; nil for the empty database.
  public let id: ChangesetID?
  /// Whether an older commit is checked out, on which nothing can be committed.
  public let isDetached: Bool

  /// The identifier as text.
  public var uuid: String? { id?.description }
}

/// What became of a row between two states.
public struct RowChange: Sendable, Hashable {
  /// What became of it.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// It came.
    case insert
    /// Some of its columns changed.
    case update
    /// It went.
    case delete
  }

  /// What became of a column.
  public struct Cell: Sendable, Hashable {
    /// The column.
    public let column: String
    /// The value before; NULL in a row that came.
    public let old: FieldValue
    /// The value after; NULL in a row that went.
    public let new: FieldValue
  }

  /// The table.
  public let table: String
  /// The values of the primary key.
  public let key: [FieldValue]
  /// What became of the row.
  public let kind: Kind
  /// The columns that changed, by name; of a row that came or went, those that are not NULL.
  ///
  /// Those of the primary key are none of them.
  public let cells: [Cell]
}

/// How a database and its history are.
public struct ChangesetStatus: Sendable, Hashable {
  /// How many rows of a table are not committed.
  public struct Table: Sendable, Hashable {
    /// The table.
    public let name: String
    /// Rows that came.
    public var inserted = 0
    /// Rows whose columns changed.
    public var updated = 0
    /// Rows that went.
    public var deleted = 0
  }

  /// Where the rows are.
  public let head: Head
  /// The tables of the history with rows that are not committed, by name.
  public let tables: [Table]
  /// How many commits the cloud is not known to have.
  public let unpushedCount: Int
  /// The ends of the present branch; several are to be merged.
  public let heads: [ChangesetID]
  /// How many heads of all branches go on from before a squash; ``ChangesetRemote/rebase()`` puts them on top of the others'
  /// history.
  public let behindCount: Int
  /// How many commits of others go on from before a squash, and nobody has put them on top of the history;
  /// ``ChangesetRepository/rebaseOthers(branch:)`` does.
  public let leftBehindCount: Int
  /// How many fetched commits wait for others before them.
  public let waitingCount: Int
  /// What was fetched and is no use, by name, with the reason.
  public let refused: [Refused]
  /// Rows of HEAD that the tables here do not take, by table and key.
  public let parked: [Parked]
  /// Tables with a primary key that have neither this history nor a `SyncEngine`, by name;
  /// ``ChangesetRepository/rescan(_:tables:renamed:options:)`` takes them up.
  public let untracked: [String]

  /// Something that was fetched and cannot be read.
  public struct Refused: Sendable, Hashable {
    /// The record's name.
    public let name: String
    /// Why.
    public let reason: String
  }

  /// A row that breaks a rule which the tables of others do not have.
  ///
  /// It is in the history and not in its table. Everything else goes on; each pull tries it again, and a row that is
  /// made under its key takes its place.
  public struct Parked: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The values of the primary key.
    public let key: [FieldValue]
    /// What SQLite says against it, with the name of the constraint.
    public let reason: String
  }

  /// Whether there is nothing to commit.
  public var isClean: Bool { tables.isEmpty }
}
