public import CloudSyncCore

/// How a local cloud behaves where CloudKit leaves it open, or has limits that a test wants to reach.
///
/// The defaults are what is known of CloudKit's private database. Everything in a cloud is
/// deterministic: where chance is asked for it comes from ``seed``.
public struct LocalCloudOptions: Sendable {
  /// When a save is refused because somebody else changed the record.
  public enum SavePolicy: Sendable, CaseIterable {
    /// If its change tag is not the record's, or it has none and the record exists.
    case ifServerRecordUnchanged
    /// Never; the fields that are sent are set.
    case changedKeys
    /// Never; all fields that are sent are set, and those that only the server has stay.
    case allKeys
  }

  /// How a request tells which of its items failed.
  public enum PartialFailureShape: Sendable, CaseIterable {
    /// As a `partialFailure` where nothing was done, as failures of the response where something was.
    case error
    /// As failures of the response, always.
    case response
  }

  /// What the deletion of a record that does not exist answers; CloudKit's documents do not say.
  public enum MissingDeletion: Sendable, CaseIterable {
    /// It is done.
    case success
    /// The item fails with `unknownItem`.
    case unknownItem
  }

  /// Whether types and fields come into being when they are first saved.
  public enum SchemaMode: Sendable, CaseIterable {
    /// They do, as in CloudKit's development environment.
    case development
    /// A type or field that is not known is refused, as in production.
    case frozen
  }

  /// Which references must lead to a record of the server or of the same request.
  public enum ReferenceCheck: Sendable, CaseIterable {
    /// All that the request sets, parents among them.
    case all
    /// Parents, and references that delete their holder.
    case owning
    /// None.
    case none
  }

  /// The rules of a bucket from which a device pays for every item that it sends.
  public struct Throttle: Sendable {
    /// How many items the bucket holds; it is full at first.
    public var burst: Int
    /// How many items flow in every second.
    public var refillPerSecond: Int
    /// The waits that a refused request is told, both ends included.
    public var retryAfter: ClosedRange<Duration>
    /// The code of a refusal.
    public var code: SyncError.Code

    /// Creates a throttle; by default what was measured of CloudKit.
    public init(
      burst: Int = 1_000,
      refillPerSecond: Int = 20,
      retryAfter: ClosedRange<Duration> = .seconds(11) ... .seconds(76),
      code: SyncError.Code = .requestRateLimited
    ) {
      self.burst = max(1, burst)
      self.refillPerSecond = max(1, refillPerSecond)
      self.retryAfter = retryAfter
      self.code = code
    }
  }

  /// What becomes of pushes.
  public struct Pushes: Sendable {
    /// Whether a push is left out while one for the same zone waits to be taken.
    public var areMerged = false
    /// How many of a thousand are lost.
    public var lostPerMille = 0
    /// How late they come.
    public var delay = Duration.zero

    /// Creates the rules: every change gives one push to every other device, at once.
    public init() {}
  }

  // MARK: Saving

  /// Whether one refused item keeps all others of its request from being stored.
  public var isAtomic = true
  /// When a save counts as a conflict.
  public var savePolicy = SavePolicy.ifServerRecordUnchanged
  /// How failed items are told.
  public var partialFailureShape = PartialFailureShape.error
  /// What the deletion of a missing record answers.
  public var missingDeletion = MissingDeletion.success
  /// Whether a request that comes again with the write token of the last one is answered as then.
  public var knowsWriteTokens = true
  /// What a record is refused with by itself, whatever is in it; nil refuses none.
  public var refusal: (@Sendable (RecordID) -> SyncError?)?
  /// Whether saving a record gives its parent a new change tag.
  public var touchesParents = true

  // MARK: Limits

  /// Saves and deletions of one request, and names that one request looks up.
  public var itemLimit = 400
  /// Bytes of one request without assets.
  public var requestByteLimit = 2_000_000
  /// Bytes of one record without assets; at most what `RecordRules` allow.
  public var recordByteLimit = RecordRules.maximumRecordByteCount
  /// Bytes of one asset.
  public var assetByteLimit: Int64 = 50_000_000
  /// What sessions are told to keep to; nil for the true limits.
  public var announcedLimits: RequestLimits?
  /// How many bytes an account may hold; nil for no end.
  public var quota: Int64?
  /// How many zones an account may have, those included that are gone; nil for no end.
  public var zoneLimit: Int?
  /// How many record types may come into being, and how many fields each may have; nil for no end.
  public var schemaLimit: (types: Int, fields: Int)?
  /// How fast a device may send; nil for as fast as it likes.
  public var throttle: Throttle?

  // MARK: References and schema

  /// Which references are checked.
  public var referenceCheck = ReferenceCheck.all
  /// How many records may be deleted together with one record.
  public var deletingReferenceLimit = 750
  /// The code for one more; CloudKit's documents do not say which.
  public var deletingReferenceCode = SyncError.Code.limitExceeded
  /// Whether types and fields come into being.
  public var schemaMode = SchemaMode.development
  /// Whether each account has record types and fields of its own.
  ///
  /// In CloudKit all users of a container share them; where
  /// strangers share a server, one could fix the types of another's fields, or use up ``schemaLimit`` for all. An account
  /// of a store that shared them before begins with those.
  public var hasSchemaPerAccount = false
  /// The code for a record type that a frozen schema does not have; some report `unknownItem`.
  public var unknownTypeCode = SyncError.Code.invalidArguments

  // MARK: Fetching

  /// How many changes a page holds, and how many zones one of the database.
  public var pageSize = 200
  /// Bytes without assets with which a page ends, also where more changes would fit, and the response to a look-up, which
  /// says nothing of the names that are left.
  public var pageByteLimit = 4_000_000
  /// How many pages without anything precede each page that has something.
  public var emptyPages = 0
  /// Whether deletions are told with the record's type.
  public var tellsDeletedTypes = true
  /// Whether a token of the database differs from call to call although nothing changed.
  public var variesDatabaseTokens = false

  /// How many documents an account has for its marks; those of the oldest openings are forgotten.
  ///
  /// A device that was away for longer is told that history was lost, and uploads what it has.
  package var historyDocumentLimit: Int64 = 128

  // MARK: Pushes and chance

  /// What becomes of pushes.
  public var pushes = Pushes()
  /// Where all chance comes from, and the shape of change tags and tokens of a new store.
  public var seed: UInt64 = 1

  /// Creates the defaults.
  public init() {}

  /// What sessions are told.
  var limits: RequestLimits {
    announcedLimits ?? RequestLimits(items: itemLimit, bytes: requestByteLimit)
  }
}
