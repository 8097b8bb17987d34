public import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSchema

/// What an app settles for a history.
public struct ChangesetOptions: Sendable {
  /// What is settled for a table.
  public struct Table: Sendable {
    /// How rows are merged that two replicas have changed; `MergePolicy.client` and
    /// `MergePolicy.server` are refused, for no side of a merge is either.
    public var merging: TableMergePolicy
    /// What becomes of two rows with the same values of a unique key; `UniqueKeyPolicy.merge` is refused.
    public var uniqueKeys: UniqueKeyPolicy
    /// What becomes of rows whose parent another replica has deleted.
    public var orphans: OrphanPolicy
    /// Whether no two replicas ever give one integer to two rows: else integer keys cannot be pushed.
    public var hasUniqueIntegerKeys: Bool

    /// Creates what is settled for a table.
    public init(
      merging: TableMergePolicy = TableMergePolicy(deletes: .editWins),
      uniqueKeys: UniqueKeyPolicy = .newest,
      orphans: OrphanPolicy = .restoreParent,
      hasUniqueIntegerKeys: Bool = false
    ) {
      self.merging = merging
      self.uniqueKeys = uniqueKeys
      self.orphans = orphans
      self.hasUniqueIntegerKeys = hasUniqueIntegerKeys
    }
  }

  /// What this copy of the database is called in its commits; nil for the name that it has, or at first a
  /// random one.
  public var replica: String?
  /// What is settled for tables, by name; for the others what ``Table/init(merging:uniqueKeys:orphans:hasUniqueIntegerKeys:)`` gives.
  ///
  /// Names are not checked: that of no table, or of no column in its policies, has no effect.
  public var tables: [String: Table]
  /// Is asked about each row that two commits have both changed so that something of it is lost; nil for
  /// what the policies say.
  ///
  /// It must say the same for the same row, and not wait.
  public var handler: (@Sendable (RowConflict) -> Resolution)?
  /// The app's migration from whatever version of its tables there is to the present one; nil if commits of older
  /// versions wait until their own replicas migrate them.
  ///
  /// It gets a copy of the database as of such a commit, and must do the same as every replica's migration.
  public var migrate: (@Sendable (OpaquePointer) throws -> Void)?
  /// Whether the cloud keeps commits in encrypted fields; the same for all replicas.
  public var encrypts = false
  /// The clock and the random numbers.
  public var environment: SyncEnvironment

  /// Creates options.
  public init(
    replica: String? = nil,
    tables: [String: Table] = [:],
    handler: (@Sendable (RowConflict) -> Resolution)? = nil,
    environment: SyncEnvironment = .live
  ) {
    self.replica = replica
    self.tables = tables
    self.handler = handler
    self.environment = environment
  }
}

extension ChangesetOptions {
  /// What is settled for a table; SQLite does not tell `A` to `Z` from `a` to `z` in names.
  func settings(of table: String) -> Table {
    tables[table]
      ?? tables.sorted { $0.key < $1.key }.first { $0.key.isSameName(as: table) }?.value ?? Table()
  }
}
