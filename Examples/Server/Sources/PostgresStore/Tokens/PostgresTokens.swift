public import CloudSyncLocalCloud
public import CloudSyncService
public import CloudSyncSession
import Synchronization

/// Tokens of access in the store's database, so that every process of a service knows the same ones.
///
/// Only their SHA-256 digests are stored. A token that was found is good for five seconds before it is looked
/// for again: so long it takes at most until one that was revoked opens nothing.
public final class PostgresTokens: ServiceTokens {
  /// A token in the list, without the token.
  public struct Entry: Sendable, Hashable {
    /// The SHA-256 digest.
    public var digest: [UInt8]
    /// Whom it belongs to.
    public var access: ServiceAccess
    /// When it was made, in milliseconds since 1970.
    public var created: Int64
    /// When it ends, in milliseconds since 1970; nil for never.
    public var expires: Int64?
    /// When it was revoked, in milliseconds since 1970.
    public var revoked: Int64?
  }

  private struct Known {
    var entry: Entry
    var time: Int64
  }

  private static let lifetime: Int64 = 5_000
  /// Above this number those that are known are forgotten.
  private static let limit = 65_536

  private static let find = PostgresStatement(
    "",
    """
    SELECT hash, account, device, created, expires, revoked FROM cloudsync_tokens WHERE hash = $1
    """
  )
  private static let list = PostgresStatement(
    "",
    """
    SELECT hash, account, device, created, expires, revoked FROM cloudsync_tokens
    ORDER BY account, device, created, hash
    """
  )
  private static let insert = PostgresStatement(
    "",
    """
    INSERT INTO cloudsync_tokens(hash, account, device, created, expires)
    VALUES ($1, $2, $3, $4, nullif($5, -1::bigint))
    """
  )
  private static let revoke = PostgresStatement(
    "",
    "UPDATE cloudsync_tokens SET revoked = $2 WHERE hash = $1 AND revoked IS NULL"
  )

  private let store: PostgresStore
  private let now: @Sendable () -> Timestamp
  /// By digest; looked into, never iterated.
  private let known = Mutex<[[UInt8]: Known]>([:])

  /// Reads the tokens of a store's database.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - now: The clock.
  public init(
    store: PostgresStore,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now
  ) {
    self.store = store
    self.now = now
  }

  private var milliseconds: Int64 { now().nanoseconds / 1_000_000 }

  /// Finds whom the token with a digest belongs to.
  ///
  /// While the database is away a token that is known stays so: its request will be told to come later.
  ///
  /// - Throws: That the database is away, and the token is not known.
  public func access(digest: [UInt8]) throws(SyncError) -> ServiceAccess? {
    let time = milliseconds
    let known = known.withLock { $0[digest] }
    if let known, (known.time...known.time + Self.lifetime).contains(time) {
      return access(known.entry, at: time)
    }
    let found: Entry?
    do throws(LocalCloudStoreError) { found = try entry(digest: digest) } catch {
      if let known { return access(known.entry, at: time) }
      throw SyncError(.serviceUnavailable, "the list of tokens cannot be reached")
    }
    self.known.withLock { known in
      if known.count >= Self.limit { known.removeAll() }
      known[digest] = found.map { Known(entry: $0, time: time) }
    }
    return found.flatMap { access($0, at: time) }
  }

  private func access(_ entry: Entry, at time: Int64) -> ServiceAccess? {
    let isGood = entry.revoked == nil && entry.expires.map { $0 > time } ?? true
    return isGood ? entry.access : nil
  }

  private func entry(digest: [UInt8]) throws(LocalCloudStoreError) -> Entry? {
    try entries(of: PostgresCall(Self.find, .bytes(digest))).first
  }

  /// All tokens, by account and device.
  public func entries() throws(LocalCloudStoreError) -> [Entry] {
    try entries(of: PostgresCall(Self.list))
  }

  private func entries(of call: PostgresCall) throws(LocalCloudStoreError) -> [Entry] {
    let rows = try store.query(call)
    return try (0..<rows.count)
      .map { (row) throws(LocalCloudStoreError) in
        guard let account = rows.text(row: row, column: 1),
          let device = rows.text(row: row, column: 2)
        else { throw LocalCloudStoreError(.damaged, "a token's account or device is no text") }
        func time(_ column: Int) -> Int64? {
          rows.isNull(row: row, column: column) ? nil : rows.integer(row: row, column: column)
        }
        return Entry(
          digest: rows.bytes(row: row, column: 0),
          access: ServiceAccess(account: AccountIdentity(account), device: device),
          created: rows.integer(row: row, column: 3),
          expires: time(4),
          revoked: time(5)
        )
      }
  }

  /// Lets a device in.
  ///
  /// - Parameters:
  ///   - digest: The SHA-256 digest of the token, which is not kept: 256 random bits, as text.
  ///   - access: Whom it belongs to.
  ///   - expires: When it ends, in milliseconds since 1970; nil for never.
  /// - Throws: What the database has to say.
  public func add(
    digest: [UInt8],
    access: ServiceAccess,
    expires: Int64? = nil
  ) throws(LocalCloudStoreError) {
    _ = try store.query(
      PostgresCall(
        Self.insert,
        .bytes(digest),
        .text(access.account.value),
        .text(access.device),
        .integer(milliseconds),
        .integer(expires ?? -1)
      )
    )
  }

  /// Shuts a token out: in this process from the next request on, in others within five seconds.
  ///
  /// - Parameter digest: The SHA-256 digest of the token.
  /// - Returns: Whether it was good before.
  /// - Throws: What the database has to say.
  @discardableResult
  public func revoke(digest: [UInt8]) throws(LocalCloudStoreError) -> Bool {
    defer { known.withLock { $0[digest] = nil } }
    let call = PostgresCall(Self.revoke, .bytes(digest), .integer(milliseconds))
    return try store.query(call).changedCount > 0
  }
}
