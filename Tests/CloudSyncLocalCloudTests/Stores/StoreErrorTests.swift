import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: what a store's errors become")
struct StoreErrorTests {
  /// A store that fails, and remembers which locks were taken.
  private final class WatchedStore: LocalCloudStore {
    let base = MemoryStore()
    let error = Locked<LocalCloudStoreError?>(nil)
    let locks = Locked<[LocalCloudLock]>([])
    let prefetched = Locked<[[String]]>([])
    let guessed = Locked<[[String]]>([])
    /// The keys that the last transaction read.
    let read = Locked<Set<String>>([])

    func transaction<Value: Sendable>(
      _ kind: LocalCloudTransactionKind,
      _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
    ) throws(LocalCloudStoreError) -> Value {
      if let error = error.withLock({ $0 }) { throw error }
      locks.withLock { $0 = [] }
      read.withLock { $0 = [] }
      return try base.transaction(kind) { (transaction) throws(LocalCloudStoreError) in
        try body(WatchedTransaction(transaction, store: self))
      }
    }
  }

  private final class WatchedTransaction: LocalCloudTransaction {
    let base: any LocalCloudTransaction
    let store: WatchedStore

    init(_ base: any LocalCloudTransaction, store: WatchedStore) {
      self.base = base
      self.store = store
    }

    func lock(_ lock: LocalCloudLock) { store.locks.withLock { $0.append(lock) } }
    func prefetch(documents keys: () -> [String]) {
      let keys = keys()
      store.guessed.withLock { $0.append(keys) }
    }
    func prefetch(names: [String], in zone: StoredZoneKey) {
      store.prefetched.withLock { $0.append(names) }
    }

    func document(_ key: String) throws(LocalCloudStoreError) -> StoreDocument? {
      _ = store.read.withLock { $0.insert(key) }
      return try base.document(key)
    }
    func documents(
      withPrefix prefix: String
    ) throws(LocalCloudStoreError) -> [(key: String, document: StoreDocument)] {
      try base.documents(withPrefix: prefix)
    }
    func setDocument(_ document: StoreDocument, for key: String) throws(LocalCloudStoreError) {
      try base.setDocument(document, for: key)
    }
    func removeDocument(_ key: String) throws(LocalCloudStoreError) { try base.removeDocument(key) }
    func item(
      named name: String,
      in zone: StoredZoneKey
    ) throws(LocalCloudStoreError) -> StoredItem? { try base.item(named: name, in: zone) }
    func setItem(
      _ item: StoredItem,
      in zone: StoredZoneKey,
      replacing former: Int64?
    ) throws(LocalCloudStoreError) { try base.setItem(item, in: zone, replacing: former) }
    func items(
      in zone: StoredZoneKey,
      after position: Int64,
      limit: Int,
      byteLimit: Int
    ) throws(LocalCloudStoreError) -> [StoredItem] {
      try base.items(in: zone, after: position, limit: limit, byteLimit: byteLimit)
    }
    func removeItems(in zone: StoredZoneKey) throws(LocalCloudStoreError) {
      try base.removeItems(in: zone)
    }
    func sources(
      of target: String,
      in zone: StoredZoneKey,
      limit: Int
    ) throws(LocalCloudStoreError) -> [String] {
      try base.sources(of: target, in: zone, limit: limit)
    }
    func setLink(
      from source: String,
      to target: String,
      in zone: StoredZoneKey,
      isPresent: Bool
    ) throws(LocalCloudStoreError) {
      try base.setLink(from: source, to: target, in: zone, isPresent: isPresent)
    }
  }

  @Test("A store's error has a code that tells what to do, and neither path nor name")
  func codes() throws {
    let store = WatchedStore()
    let device = CloudWorld(store: store).connect()
    let cases: [(LocalCloudStoreError.Code, SyncError.Code)] = [
      (.busy, .zoneBusy), (.full, .serviceUnavailable), (.cannotAccess, .serviceUnavailable),
      (.readOnly, .serviceUnavailable), (.outcomeUnknown, .serverResponseLost),
      (.damaged, .internalError),
      (.foreign, .internalError), (.limitReached, .internalError),
    ]
    for (code, expected) in cases {
      let error = LocalCloudStoreError(code, path: "/srv/secret.db", "the file /srv/secret.db")
      store.error.withLock { $0 = error }
      for found in [device.createZone().error, device.modify([device.note("a")]).error] {
        #expect(found?.code == expected)
        #expect(found.map { !"\($0)".contains("secret") } == true)
      }
    }
  }

  @Test("Locks are taken before what they hold is read, in one order; names are told in advance")
  func locks() throws {
    let store = WatchedStore()
    let device = CloudWorld(store: store).connect()
    let account = LocalCloudLock.account(CloudWorld.alice)
    _ = try device.createZone().get()
    #expect(store.locks.withLock { $0 } == [account, .counters, .counters])
    try device.save(device.note("a"))
    #expect(store.locks.withLock { $0 } == [account, .schema])
    try device.save(device.note("b"), device.note("c"))
    #expect(store.locks.withLock { $0 } == [account])
    #expect(store.prefetched.withLock { $0 } == [["a"], ["b", "c"]])
    _ = try device.fetch().get()
    #expect(store.locks.withLock { $0 } == [])

    let fresh = WatchedStore()
    let other = CloudWorld(store: fresh)
      .connect("phone", CloudWorld.alice, ZoneID(name: ZoneID.defaultZoneName))
    try other.save(other.note("a"))
    #expect(fresh.locks.withLock { $0 } == [account, .schema, .counters, .counters, .schema])
  }

  @Test("From an account's second request on, every document is told of before it is asked for")
  func guesses() throws {
    let store = WatchedStore()
    let world = CloudWorld(store: store)
    let device = world.connect()
    _ = try device.createZone().get()
    let read = { store.read.withLock { $0 } }
    let guessed = { Set(store.guessed.withLock { $0.last } ?? []) }
    #expect(!read().isSubset(of: guessed()))
    for name in ["a", "b"] {
      try device.save(device.note(name))
      #expect(read() == guessed() && read().count == 5)
    }
    _ = try device.fetch().get()
    #expect(read() == guessed() && read().count == 3)

    // Another account has a number of its own; a cloud that was just started knows none.
    let other = world.connect("pad", CloudWorld.bob)
    _ = try other.createZone().get()
    #expect(!read().isSubset(of: guessed()))
    try other.save(other.note("a"))
    #expect(read() == guessed())
    _ = try CloudWorld(store: store).connect("pad", CloudWorld.bob).fetch().get()
    #expect(!read().isSubset(of: guessed()))
  }

  @Test("Last answers go after 30 days, and when 64 other devices have had theirs")
  func lastAnswers() throws {
    let world = try CloudWorld(.memory)
    let phone = try world.device("phone")
    let edit = [phone.note("a", ["x": 1])]
    _ = try phone.modify(edit, token: 70).get()
    for number in 0..<63 {
      let device = world.connect("device\(number)")
      try device.save(device.note("r\(number)"))
    }
    #expect(phone.modify(edit, token: 70).error == nil)
    let last = world.connect("last")
    try last.save(last.note("last"))
    #expect(phone.modify(edit, token: 70).itemCodes == ["a": .serverRecordChanged])
    #expect(
      last.modify([last.note("last")], token: nil).itemCodes == ["last": .serverRecordChanged]
    )

    let late = try CloudWorld(.memory)
    let pad = try late.device("pad")
    _ = try pad.modify([pad.note("a")], token: 70).get()
    late.advance(by: .seconds(31 * 86_400))
    let other = late.connect("other")
    try other.save(other.note("b"))
    #expect(pad.modify([pad.note("a")], token: 70).itemCodes == ["a": .serverRecordChanged])
  }

  @Test("A cloud tells of every change, by whom; and which zones an account has")
  func changes() throws {
    let world = try CloudWorld(.memory)
    let heard = Locked<[String]>([])
    world.cloud.onChange { change in heard.withLock { $0.append(change.device) } }
    let phone = try world.device("phone")
    try phone.save(phone.note("a"))
    _ = phone.modify([phone.note("a")])
    _ = try phone.fetch().get()
    _ = try world.device("pad", CloudWorld.alice, ZoneID(name: "Other"))

    #expect(heard.withLock { $0 } == ["phone"])
    let zones = try world.cloud.zones(account: CloudWorld.alice).map(\.name)
    #expect(zones == ["Notes", "Other"])
    #expect(try world.cloud.zones(account: CloudWorld.bob) == [])
    try world.cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice)
    #expect(try world.cloud.zones(account: CloudWorld.alice).map(\.name) == ["Other"])
    #expect(heard.withLock { $0 } == ["phone", ""])
  }
}
