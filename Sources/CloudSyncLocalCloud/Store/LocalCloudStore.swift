public import CloudSyncCore

/// Where a ``LocalCloud`` keeps what it holds.
///
/// A store knows nothing of CloudKit: it keeps documents by key, items by name and by position, and
/// links between names. The rules are in one engine above it, so that every store behaves the same.
/// ``MemoryStore`` and ``SQLiteStore`` are here; the package of `cloudsync-server` has one for PostgreSQL.
public protocol LocalCloudStore: Sendable {
  /// Another number whenever the storage may have been replaced while the store was open: after the connection to a
  /// database was lost, say. Read at the beginning of each transaction; always 0 by default.
  var opening: UInt64 { get }

  /// Runs a body that sees a consistent state, and of whose writes either all or none remain.
  ///
  /// Transactions that write the same account run one after the other, those of other processes
  /// included. A body must not begin another transaction, and must not keep what it is given. It may
  /// be run again if the storage could not complete it, so it has no effect beside what it returns.
  ///
  /// - Throws: What the body throws, or what the storage has to say; then nothing was written.
  func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value
}

extension LocalCloudStore {
  /// Nobody replaces the storage of an open store.
  public var opening: UInt64 { 0 }
}

/// Whether a transaction writes.
public enum LocalCloudTransactionKind: Sendable {
  /// It only reads.
  case read
  /// It may write.
  case write
}

/// What the engine may do inside a transaction.
///
/// Order is always that of bytes, and positions are those of the zone's feed: they rise, and each
/// belongs to one item.
public protocol LocalCloudTransaction: AnyObject {
  /// The document of a key.
  func document(_ key: String) throws(LocalCloudStoreError) -> StoreDocument?
  /// The documents whose keys begin with a text, sorted by key.
  func documents(
    withPrefix prefix: String
  ) throws(LocalCloudStoreError) -> [(key: String, document: StoreDocument)]
  /// Keeps a document.
  func setDocument(
    _ document: StoreDocument,
    for key: String
  ) throws(LocalCloudStoreError)
  /// Removes a document; nothing happens where there is none.
  func removeDocument(_ key: String) throws(LocalCloudStoreError)

  /// Waits until no other transaction holds a lock, and holds it to the end of this one.
  ///
  /// Called before what is going to be changed is read, in the order of ``LocalCloudLock``. A store
  /// whose writers run one after the other anyway does nothing, which is the default.
  func lock(_ lock: LocalCloudLock) throws(LocalCloudStoreError)
  /// Tells which documents the transaction is likely to ask for, so that a store far away may fetch
  /// them at once; does nothing by default.
  ///
  /// - Parameter keys: Makes the keys, for a store that wants them. It is a guess: some may be missing,
  ///   and others may never be asked for.
  /// - Throws: What the storage has to say.
  func prefetch(documents keys: () -> [String]) throws(LocalCloudStoreError)
  /// Tells which items the transaction is going to ask for by name, so that a store far away may
  /// fetch them at once; does nothing by default.
  func prefetch(names: [String], in zone: StoredZoneKey) throws(LocalCloudStoreError)

  /// The item of a name: a record, or what is left of one.
  func item(
    named name: String,
    in zone: StoredZoneKey
  ) throws(LocalCloudStoreError) -> StoredItem?
  /// Keeps an item at the end of the feed.
  ///
  /// - Parameters:
  ///   - item: The item, whose position is above all others of the zone.
  ///   - zone: The life of the zone that it belongs to.
  ///   - former: The position of the item that it takes the place of, if there is one.
  /// - Throws: What the storage has to say.
  func setItem(
    _ item: StoredItem,
    in zone: StoredZoneKey,
    replacing former: Int64?
  ) throws(LocalCloudStoreError)
  /// The first items after a position, sorted by position.
  ///
  /// - Parameters:
  ///   - zone: The life of the zone.
  ///   - position: The position after which to begin.
  ///   - limit: How many items to return at most.
  ///   - byteLimit: The last item is the one with which the items have so many bytes.
  /// - Returns: The items.
  /// - Throws: What the storage has to say.
  /// - Complexity: O(*n* + log *m*) for *n* items out of *m*, wherever they lie.
  func items(
    in zone: StoredZoneKey,
    after position: Int64,
    limit: Int,
    byteLimit: Int
  ) throws(LocalCloudStoreError) -> [StoredItem]
  /// Forgets the items and links of a zone.
  func removeItems(in zone: StoredZoneKey) throws(LocalCloudStoreError)

  /// The names of the records that are deleted together with a record, sorted, at most so many.
  func sources(
    of target: String,
    in zone: StoredZoneKey,
    limit: Int
  ) throws(LocalCloudStoreError) -> [String]
  /// Notes that a record is deleted together with another one, or no longer.
  func setLink(
    from source: String,
    to target: String,
    in zone: StoredZoneKey,
    isPresent: Bool
  ) throws(LocalCloudStoreError)
}

extension LocalCloudTransaction {
  /// Does nothing: writers run one after the other.
  public func lock(_ lock: LocalCloudLock) throws(LocalCloudStoreError) {}
  /// Does nothing: every document is at hand.
  public func prefetch(documents keys: () -> [String]) throws(LocalCloudStoreError) {}
  /// Does nothing: every item is at hand.
  public func prefetch(names: [String], in zone: StoredZoneKey) throws(LocalCloudStoreError) {}
}

/// What a transaction that writes holds for itself, in the order in which locks are taken: accounts
/// before the schema, the schema before the counters.
public enum LocalCloudLock: Sendable, Hashable {
  /// An account, with its zones and records.
  case account(AccountIdentity)
  /// The record types, which all accounts share.
  case schema
  /// What is counted over the whole store.
  case counters
}

/// One life of a zone, from its creation to its deletion, in a store.
public struct StoredZoneKey: Sendable {
  /// A number that no other life of any zone has in the store.
  public let number: Int64
  /// The zone.
  public let zoneID: ZoneID

  /// Creates a key.
  public init(number: Int64, zoneID: ZoneID) {
    self.number = number
    self.zoneID = zoneID
  }
}
