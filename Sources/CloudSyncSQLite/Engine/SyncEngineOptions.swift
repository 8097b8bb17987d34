public import CloudSyncCore

/// What an engine may be told beside its tables.
public struct SyncEngineOptions: Sendable {
  /// How a table is synchronized.
  public struct Table: Sendable {
    /// How edits of both sides are merged, and deletes with edits.
    public var merging = TableMergePolicy()
    /// What becomes of its rows whose parent another device deletes although the foreign key says `RESTRICT`
    /// or `NO ACTION`; every device must have the same policy.
    public var orphans = OrphanPolicy.restoreParent
    /// Whether the app gives its integer keys so that no two devices give the same.
    public var hasUniqueIntegerKeys = false
    /// What becomes of two rows that break a unique key beside the primary one.
    ///
    /// Nil, the default, refuses tables with such keys when the engine is made.
    public var uniqueKeys: UniqueKeyPolicy?
    /// Whether `NOT NULL` columns without a default are allowed, although an app that does not know such
    /// a column cannot make rows then.
    public var allowsMissingDefaults = false

    /// Creates the default.
    public init() {}
  }

  /// How tables are synchronized that want it otherwise than by default.
  public var tables: [String: Table] = [:]
  /// The default of all tables.
  public var defaultTable = Table()
  /// How large BLOBs travel; nil keeps every BLOB within its record, which has room for a million bytes.
  public var assets: AssetOptions?
  /// The session's budgets, waits and policies.
  public var configuration = SyncConfiguration()
  /// A gate shared with the other sessions of the account.
  public var gate: SyncGate?
  /// Called with every session that the engine makes, before it starts: to attach a recorder, or to append
  /// middleware such as the one that asks for the account.
  public var sessionWillStart: (@Sendable (CloudSyncSession) -> Void)?

  /// Creates the default.
  public init() {}

  /// How a table is synchronized.
  public func table(_ name: String) -> Table { tables[name] ?? defaultTable }
}
