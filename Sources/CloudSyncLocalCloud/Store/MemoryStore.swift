import CloudSyncCore

/// Keeps a local cloud in memory, for as long as it lives.
public final class MemoryStore: LocalCloudStore {
  private let contents = Locked(MemoryContents())
  private let openings = Locked<UInt64>(0)

  /// Creates an empty store.
  public init() {}

  /// Counts how often a backup was restored as if the store had been closed meanwhile.
  public var opening: UInt64 { openings.withLock { $0 } }

  /// What the store holds now, to be restored later.
  package func backup() -> MemoryBackup { contents.withLock { $0.backup } }

  /// Puts the store back to what it held, without a word to whoever uses it.
  ///
  /// - Parameters:
  ///   - backup: What it held.
  ///   - isClosed: Whether it was closed for that, as the rules say.
  package func restore(_ backup: MemoryBackup, isClosed: Bool) {
    contents.withLock { $0.restore(backup) }
    if isClosed { openings.withLock { $0 += 1 } }
  }

  /// Runs a body while nobody else uses the store.
  ///
  /// A body that throws has to do so before it writes: what it wrote stays.
  ///
  /// - Throws: What the body throws.
  public func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    try contents.withLock { contents throws(LocalCloudStoreError) in try body(contents) }
  }
}

/// What a memory store held at some time.
package struct MemoryBackup: Sendable {
  fileprivate struct Zone: Sendable {
    let items: [StoredItem]
    let names: NameTable
    let feed: FeedIndex
    let sources: [ByteKey: [String]]
  }

  fileprivate let documents: [ByteKey: StoreDocument]
  fileprivate let keys: [String]
  fileprivate let zones: [Int64: Zone]
}

/// What a memory store holds.
private final class MemoryContents: LocalCloudTransaction {
  /// What belongs to one life of a zone; an item keeps its number for good.
  private final class Zone {
    var items: [StoredItem] = []
    var names = NameTable()
    var feed = FeedIndex()
    /// The sorted names of those that go with a record, by its name; looked into only.
    var sources: [ByteKey: [String]] = [:]

    func number(of name: String, hash: UInt64) -> Int? {
      names.find(hash: hash) { UTF8Bytes.equal(items[$0].recordID.name, name) }
    }

    var backup: MemoryBackup.Zone {
      MemoryBackup.Zone(items: items, names: names, feed: feed, sources: sources)
    }

    init() {}

    init(_ backup: MemoryBackup.Zone) {
      (items, names) = (backup.items, backup.names)
      (feed, sources) = (backup.feed, backup.sources)
    }
  }

  private var documents: [ByteKey: StoreDocument] = [:]
  /// The keys of the documents, sorted.
  private var keys: [String] = []
  private var zones: [Int64: Zone] = [:]

  var backup: MemoryBackup {
    MemoryBackup(documents: documents, keys: keys, zones: zones.mapValues(\.backup))
  }

  func restore(_ backup: MemoryBackup) {
    (documents, keys) = (backup.documents, backup.keys)
    zones = backup.zones.mapValues(Zone.init)
  }

  func document(_ key: String) -> StoreDocument? { documents[ByteKey(key)] }

  func documents(withPrefix prefix: String) -> [(key: String, document: StoreDocument)] {
    let first = keys.firstPlace { UTF8Bytes.order($0, prefix) < 0 }
    return keys[first...].prefix { $0.utf8.starts(with: prefix.utf8) }
      .compactMap { key in documents[ByteKey(key)].map { (key, $0) } }
  }

  func setDocument(_ document: StoreDocument, for key: String) {
    guard documents.updateValue(document, forKey: ByteKey(key)) == nil else { return }
    keys.insert(key, at: keys.firstPlace { UTF8Bytes.order($0, key) < 0 })
  }

  func removeDocument(_ key: String) {
    guard documents.removeValue(forKey: ByteKey(key)) != nil else { return }
    keys.remove(at: keys.firstPlace { UTF8Bytes.order($0, key) < 0 })
  }

  private func made(zone: StoredZoneKey) -> Zone {
    if let known = zones[zone.number] { return known }
    let made = Zone()
    zones[zone.number] = made
    return made
  }

  func item(named name: String, in zone: StoredZoneKey) -> StoredItem? {
    guard let zone = zones[zone.number],
      let number = zone.number(of: name, hash: NameTable.hash(of: name))
    else { return nil }
    return zone.items[number]
  }

  func setItem(_ item: StoredItem, in zone: StoredZoneKey, replacing former: Int64?) {
    let zone = made(zone: zone)
    let name = item.recordID.name
    let hash = NameTable.hash(of: name)
    if let former, let number = zone.number(of: name, hash: hash) {
      zone.items[number] = item
      zone.feed.remove(position: former)
      zone.feed.append(position: item.position, number: number)
    } else {
      zone.names.add(hash: hash, number: zone.items.count)
      zone.feed.append(position: item.position, number: zone.items.count)
      zone.items.append(item)
    }
  }

  func items(
    in zone: StoredZoneKey,
    after position: Int64,
    limit: Int,
    byteLimit: Int
  ) -> [StoredItem] {
    guard let zone = zones[zone.number] else { return [] }
    var byteCount = 0
    return zone.feed.numbers(after: position, limit: limit)
      .prefix { number in
        if byteCount >= byteLimit { return false }
        byteCount += zone.items[number].record?.byteCount ?? 0
        return true
      }
      .map { zone.items[$0] }
  }

  func removeItems(in zone: StoredZoneKey) { zones[zone.number] = nil }

  func sources(of target: String, in zone: StoredZoneKey, limit: Int) -> [String] {
    Array(zones[zone.number]?.sources[ByteKey(target)]?.prefix(limit) ?? [])
  }

  func setLink(
    from source: String,
    to target: String,
    in zone: StoredZoneKey,
    isPresent: Bool
  ) {
    let zone = made(zone: zone)
    var names = zone.sources[ByteKey(target)] ?? []
    let place = names.firstPlace { UTF8Bytes.order($0, source) < 0 }
    let isThere = place < names.count && UTF8Bytes.equal(names[place], source)
    if isPresent, !isThere { names.insert(source, at: place) }
    if !isPresent, isThere { names.remove(at: place) }
    zone.sources[ByteKey(target)] = names.isEmpty ? nil : names
  }
}
