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
    /// What becomes of its rows whose parent another device deletes where the foreign key says `CASCADE`, and which
    /// that device did not have; every device must have the same policy.
    ///
    /// By default they are deleted too. With `restoreParent` a deletion takes nothing along that whoever deleted has
    /// not seen: the parent comes back.
    public var cascades = OrphanPolicy.deleteChildren
    /// Whether the app gives its integer keys so that no two devices give the same.
    public var hasUniqueIntegerKeys = false
    /// Whether the engine has SQLite give integer keys so that no two devices give the same.
    ///
    /// The key must be declared `INTEGER PRIMARY KEY AUTOINCREMENT`. Each database counts in ranges of its own, above
    /// all keys that it has seen: `last_insert_rowid()` and `ORDER BY id` work as before, but keys grow by billions and
    /// leave gaps. A copy of a file counts on as the original does until it is synced once, and so does a file that was
    /// put back from a backup: of two rows that were given one key so, the one that the cloud gets first keeps it, and
    /// the other one gets another key with its first sync, together with what refers to it. What the app computes as a
    /// key, such as `max(id) + 1`, is not unique. Two devices share their ranges with a probability of 1 to 16,777,216.
    public var givesIntegerKeys = false
    /// What becomes of two rows that break a unique key beside the primary one.
    ///
    /// Nil, the default, refuses tables with such keys when the engine is made.
    public var uniqueKeys: UniqueKeyPolicy?
    /// Columns that stay on this device: they are neither sent nor written.
    ///
    /// An update of nothing but such columns sends nothing. Rows of other devices get the columns' defaults, so a
    /// `NOT NULL` column needs one. They may be in no primary key, foreign key or unique key. A row begins with the
    /// defaults again when another device changes its key, or when it leaves its table for a while because of a
    /// foreign or unique key. A column that becomes local later keeps the value that the cloud has; one that is
    /// synchronized later is compared with it, and what differs from its default is sent.
    public var localColumns: Set<String> = []
    /// Columns whose values the cloud keeps encrypted, as far as it can: CloudKit does, a server of one's own and a file see
    /// every value and keep the mark alone.
    ///
    /// Name them before the first row is sent: CloudKit fixes for a field and for all users whether it is encrypted. Of a
    /// column that it knows in plain, values that are edited from then on lie encrypted in another field, and the others stay as
    /// they are; where the production schema lacks that field, such rows are parked. What a cloud has encrypted once stays so,
    /// also where the app does not say it any more, and in older versions of the app. Columns of the primary key cannot be
    /// encrypted, because records are named by it, nor counters, whose shares lie in the record's clock. When a row was edited,
    /// and which columns, is not encrypted. BLOBs and texts that travel as files CloudKit encrypts in any case.
    public var encryptedColumns: Set<String> = []
    /// Which rows this device sends: an SQL condition over the row's own columns, such as `is_private = 0`; nil, the
    /// default, sends all.
    ///
    /// A row that does not match stays on this device with its edits and its deletion; one that is in the cloud already
    /// stays there as it is. What other devices edit is stored here in any case, merged as always, and a row that matches
    /// again is sent. A condition that is NULL does not match.
    public var rowFilter: String?
    /// Whether `NOT NULL` columns without a default are allowed, although an app that does not know
    /// such a column cannot make rows then.
    public var allowsMissingDefaults = false

    /// Creates the default.
    public init() {}
  }

  /// How tables are synchronized that want it otherwise than by default.
  ///
  /// As in SQLite it does not matter how names of tables and columns are capitalized. A name of none is refused when the
  /// engine is made.
  public var tables: [String: Table] = [:]
  /// The default of all tables.
  public var defaultTable = Table()
  /// What becomes of the records of rows that were deleted; by default they stay.
  public var tombstones = TombstonePolicy.keep
  /// How large BLOBs travel; nil keeps every BLOB within its record, which has room for a million bytes.
  public var assets: AssetOptions?
  /// The session's budgets, waits and policies.
  public var configuration = SyncConfiguration()
  /// A gate shared with the other sessions of the account.
  public var gate: SyncGate?
  /// Called with every session that the engine makes, before it starts: to attach a recorder, or to
  /// append middleware such as the one that asks for the account.
  public var sessionWillStart: (@Sendable (CloudSyncSession) -> Void)?

  /// Tells who is signed in; without it there is one nameless account that is always good.
  ///
  /// Say with ``SyncEngine/accountDidChange()`` when it may have changed. Edits made while nobody is
  /// signed in are captured, and sent when the account is back.
  public var accountProvider: AccountStatusProvider?
  /// What becomes of the rows when the user signs out; by default they stay.
  public var signedOut: @Sendable () -> SignOutDecision = { .keepRows }
  /// What becomes of the rows when another account signs in: `discard` deletes those of the old account
  /// and fetches the new one's, `adopt` uploads all of them to the new one.
  ///
  /// By default the engine waits for ``SyncEngine/resolveAccountSwitch(_:)``.
  public var accountSwitched:
    @Sendable (_ from: AccountIdentity, _ to: AccountIdentity) -> AccountSwitchDecision = { _, _ in
      .wait
    }
  /// What becomes of the rows when their zone is gone.
  ///
  /// If nil the configuration's zone policy says it: rows are uploaded again after a deletion of the
  /// zone and a reset of encrypted data, and wait for ``SyncEngine/decideZone(_:)`` when the user has
  /// erased the app's data in the settings. They are never deleted unless the app says so.
  public var zoneLost: (@Sendable (ZoneLoss) -> ZoneLossDecision)?

  /// Where the times of captured edits come from: fixed in simulations.
  package var captureClock = CaptureClock.system

  /// Creates the default.
  public init() {}

  /// How a table is synchronized.
  public func table(_ name: String) -> Table { ownTable(name) ?? defaultTable }

  /// How a table is synchronized that wants it otherwise than by default.
  func ownTable(_ name: String) -> Table? {
    tables[name] ?? tables.first { $0.key.isSameName(as: name) }?.value
  }
}
