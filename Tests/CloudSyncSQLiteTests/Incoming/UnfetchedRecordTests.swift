import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// A way to a cloud that cannot give some of its records.
private struct UnreadableHandler: OperationHandler {
  let base: any OperationHandler
  /// The names of the records that cannot be given now.
  let names: Locked<Set<String>>
  /// The names that were looked up, request by request.
  let lookups: Locked<[[String]]>

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    base.handle(createZoneOperation: createZoneOperation, context: context, completion: completion)
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    base.handle(
      createSubscriptionOperation: createSubscriptionOperation,
      context: context,
      completion: completion
    )
  }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    base.handle(modifyOperation: modifyOperation, context: context, completion: completion)
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    if !fetchOperation.recordIDs.isEmpty {
      lookups.withLock { $0.append(fetchOperation.recordIDs.map(\.name)) }
    }
    let names = names.withLock { $0 }
    base.handle(fetchOperation: fetchOperation, context: context) { result in
      completion(
        result.map { page in
          var page = page
          page.changedRecords.removeAll { names.contains($0.recordID.name) }
          for record in (try? result.get().changedRecords) ?? []
          where names.contains(record.recordID.name) {
            let error = SyncError(.assetNotAvailable, "the storage is away")
            page.failures.append(ItemFailure(record.recordID, error))
          }
          return page
        }
      )
    }
  }
}

@Suite("Records that a page could not bring")
struct UnfetchedRecordTests {
  private let bench = SyncHarness()
  private let names = Locked<Set<String>>([])
  private let lookups = Locked<[[String]]>([])
  private let mac: SyncHarness.Device
  private let phone: SyncHarness.Device

  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let titles = "SELECT id, title FROM notes ORDER BY id"

  init() throws {
    mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let (names, lookups) = (names, lookups)
    bench.handler = { UnreadableHandler(base: $0, names: names, lookups: lookups) }
    phone = try bench.device("phone", Self.schema, tables: ["notes"])
  }

  private func unreadable() throws -> [String] {
    try SyncMetadata.read(from: phone.database)?.unreadableRecords.map(\.recordName) ?? []
  }

  @Test(
    "6. 199 records of 200 are stored; the last is looked up until it comes, after a restart too"
  )
  func lookedUp() throws {
    try mac.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
      INSERT INTO notes SELECT 'n' || i, 'N' || i FROM n;
      """
    )
    try bench.sync(mac)
    names.withLock { $0 = ["n7:notes"] }
    try bench.sync(phone)

    #expect(try phone.lines("SELECT count(*) FROM notes") == ["198"])
    #expect(try unreadable() == ["n7:notes"])
    let tries = lookups.withLock { $0.count }
    #expect(tries >= 2 && tries < 12)
    #expect(lookups.withLock { Set($0) } == [["n7:notes", "cloudsync_zone"]])

    try bench.restart(phone, ["notes"])
    try phone.engine.start()
    bench.world.advance(by: .seconds(3_600))
    #expect(try phone.lines("SELECT count(*) FROM notes") == ["198"])
    // The waits have grown to ten minutes.
    #expect((tries + 3...tries + 14).contains(lookups.withLock { $0.count }))

    names.withLock { $0 = [] }
    bench.world.advance(by: .seconds(700))
    #expect(try phone.lines(Self.titles) == mac.lines(Self.titles))
    #expect(try unreadable() == [])
    let all = lookups.withLock { $0.count }
    bench.world.advance(by: .seconds(3_600))
    #expect(lookups.withLock { $0.count } == all)
    #expect(try bench.unclean(phone) == [] && phone.failures == [])
  }

  @Test("A comparison says of such a record that it cannot be read, not that it is gone")
  func compared() async throws {
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    names.withLock { $0 = ["a:notes"] }
    phone.engine.stop()
    let differences = try await phone.engine.verify().differences

    #expect(differences.map(\.recordName) == ["a:notes"])
    #expect(differences.first?.reason.hasPrefix("the cloud has the row and cannot give it") == true)
  }

  /// The name of a record does not tell a key that is so long: each of its characters takes nine bytes there.
  private static let long = String(repeating: "鍵", count: 30)

  @Test(
    "A row whose record cannot be given is not taken for one that the cloud does not have",
    arguments: ["a", long]
  )
  func fullFetch(key: String) throws {
    try mac.execute("INSERT INTO notes VALUES('\(key)', 'A')")
    try bench.sync(mac, phone)
    let name = try #require(try bench.cloudNames().first)
    names.withLock { $0 = [name] }
    try phone.engine.rebuild()
    try bench.sync(phone)
    #expect(try phone.lines(Self.titles) == ["'\(key)'|'A'"])
    #expect(try unreadable() == [name])

    try mac.execute("UPDATE notes SET title = 'A2'")
    try bench.sync(mac)
    names.withLock { $0 = [] }
    bench.world.advance(by: .seconds(700))
    #expect(try phone.lines(Self.titles) == ["'\(key)'|'A2'"])
    #expect(try unreadable() == [])
  }

  @Test("One that was deleted meanwhile is looked up no more, and its row goes")
  func deleted() throws {
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    names.withLock { $0 = ["a:notes"] }
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)
    #expect(try unreadable() == ["a:notes"])

    let owner = AccountIdentity("owner")
    let other = bench.cloud.connect(device: "other", account: owner, zoneID: bench.zoneID)
    let context = RequestContext(
      attempt: Attempt(epoch: 1, number: 1),
      writeToken: WriteToken(nonce: 99, number: 1),
      deadline: .distantFuture
    )
    let recordID = RecordID(name: "a:notes", zoneID: bench.zoneID)
    other.handle(
      modifyOperation: ModifyOperation(recordIDsToDelete: [recordID]),
      context: context
    ) { _ in }
    bench.world.advance(by: .seconds(700))

    #expect(try phone.lines(Self.titles) == ["'b'|'B'"])
    #expect(try unreadable() == [])
  }
}
