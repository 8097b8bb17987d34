import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Fetches, assets and other people's zones")
struct FetchTests {
  private let world = AdapterWorld()

  /// An asset of a file with these bytes, whose digest comes from a cloud that keeps it.
  private func asset(_ name: String, _ bytes: [UInt8]) throws -> Asset {
    let kept = try world.stubs.cloud.keepAsset(bytes: bytes, account: AccountIdentity("digests"))
    return Asset(
      sha256: kept.sha256,
      byteCount: kept.byteCount,
      location: try world.stubs.file(name, bytes)
    )
  }

  @Test(
    "Scenario 23: a token that is none of CloudKit's is an expired one",
    arguments: ["random", "class", "large", "old"]
  )
  func strangeToken(how: String) throws {
    let calls = HandlerCalls(world.handler(world.stub()))
    _ = calls.createZone()
    var bytes = Data((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    switch how {
    case "class":
      bytes = try NSKeyedArchiver.archivedData(
        withRootObject: NSString("text"),
        requiringSecureCoding: true
      )
    case "large": bytes = Data(repeating: 7, count: 10_000_000)
    case "old": bytes = Data(try #require(try calls.fetch()?.get().changeToken).bytes.dropLast())
    default: break
    }

    let token = try #require(ChangeToken(bytes))
    let answer = calls.fetch(token)

    #expect(answer?.failure?.code == .changeTokenExpired)
  }

  @Test("A token of ours goes on where it was given, in another handler too")
  func tokens() throws {
    let first = HandlerCalls(world.handler(world.stub("pad")))
    _ = first.createZone()
    _ = first.modify([world.note("a")])
    let token = try #require(try first.fetch()?.get().changeToken)
    _ = first.modify([world.note("b")])

    let page = try #require(try HandlerCalls(world.handler(world.stub())).fetch(token)?.get())

    #expect(page.changedRecords.map(\.recordID.name) == ["b"])
    #expect(!page.hasMore)
  }

  @Test(
    "Scenario 26: the system removes a fetched file right after the callback; the asset is readable all the same"
  )
  func stagedFiles() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let asset = try asset("photo", bytes)
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    let saved = pad.modify([
      world.note("a", ["photo": .asset(asset), "all": .list([.asset(asset)])])
    ])
    #expect(saved?.codes == [])

    let page = try #require(try HandlerCalls(world.handler(world.stub())).fetch()?.get())

    let found = try #require(page.changedRecords.first?["photo"]?.assetValue)
    #expect(found.sha256 == asset.sha256)
    #expect(FileManager.default.contents(atPath: found.location) == Data(bytes))
    #expect(page.changedRecords.first?["all"]?.listValue?.first?.assetValue == found)
    #expect(!found.location.contains("staging"))
  }

  @Test("Scenario 27: records whose file is missing or shortened fail; the others are saved")
  func badFiles() throws {
    let (gone, short, good) = (
      try asset("gone", [1]), try asset("short", [2, 2, 2]), try asset("good", [3])
    )
    try FileManager.default.removeItem(atPath: gone.location)
    try Data([2]).write(to: URL(filePath: short.location))
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub))
    _ = calls.createZone()
    let records = [
      world.note("gone", ["f": .asset(gone)]), world.note("good", ["f": .asset(good)]),
      world.note("short", ["f": .list([.asset(short)])]), world.note("plain"),
    ]

    let answer = try #require(calls.modify(records))

    #expect(answer.saved == ["good", "plain"])
    #expect(answer.failures.map(\.recordID.name) == ["gone", "short"])
    #expect(answer.codes == [16, 17])
    #expect(stub.requests.last?.saves.map(\.name) == ["good", "plain"])
    let atomic = HandlerCalls(world.handler(stub) { $0.isAtomic = true })
    let refused = try #require(atomic.modify([records[0], world.note("other")]))
    #expect(refused.codes == [16, 22])
    #expect(try world.stubs.record("other") == nil)
  }

  @Test("A file that cannot be had fails its record; the page and the token come")
  func unreadable() throws {
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    _ = pad.modify([world.note("a"), world.note("b", ["f": .asset(try asset("f", [1]))])])
    let handler = CloudKitOperationHandler(
      database: world.stub("bare").container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName)
    )
    let stub = world.stub()
    stub.setUnreadable(["a"])

    let page = try #require(try HandlerCalls(world.handler(stub)).fetch()?.get())

    #expect(page.failures.map(\.recordID.name) == ["a"])
    #expect(page.changedRecords.map(\.recordID.name) == ["b"])
    #expect(page.changeToken != nil)
    withExtendedLifetime(handler) {}
  }

  @Test("Without a cache for files, a record that has one fails, with words that say what to do")
  func noCache() throws {
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    _ = pad.modify([world.note("a"), world.note("b", ["f": .asset(try asset("f", [1]))])])
    let stub = world.stub()
    let handler = CloudKitOperationHandler(
      database: stub.container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName)
    )

    let page = try #require(try HandlerCalls(handler).fetch()?.get())

    #expect(page.changedRecords.map(\.recordID.name) == ["a"])
    #expect(page.failures.map(\.error.code) == [.assetNotAvailable])
    #expect(page.failures.first?.error.message.contains("AssetCache") == true)
  }

  @Test("The cache keeps the files of the last response, whatever its limits")
  func cacheLimits() throws {
    let pad = HandlerCalls(world.handler(world.stub("pad")))
    _ = pad.createZone()
    let calls = HandlerCalls(
      world.handler(world.stub()) { $0.assetLimits = AssetCacheLimits(byteCount: 1) }
    )
    _ = pad.modify([world.note("a", ["f": .asset(try asset("f", [1, 1]))])])
    let first = try #require(try calls.fetch()?.get())
    let file = try #require(first.changedRecords.first?["f"]?.assetValue?.location)
    #expect(FileManager.default.fileExists(atPath: file))

    _ = pad.modify([world.note("b", ["f": .asset(try asset("g", [2, 2]))])])
    let second = try #require(try calls.fetch(first.changeToken)?.get())

    let other = try #require(second.changedRecords.first?["f"]?.assetValue?.location)
    #expect(FileManager.default.fileExists(atPath: other))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  // MARK: Zones of others

  private func sharedHandler(_ stub: StubCloud) -> CloudKitOperationHandler {
    CloudKitOperationHandler(
      database: stub.container.sharedCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName, ownerName: "_alice")
    )
  }

  @Test(
    "Scenario 30: in the shared database a zone that is not shared is missing; the owner is kept in every ID"
  )
  func sharedZones() throws {
    let owner = HandlerCalls(world.handler(world.stub("pad")))
    let stub = world.stub("guest", account: AccountIdentity("bob"))
    let handler = sharedHandler(stub)
    let guest = HandlerCalls(handler)
    #expect(handler.zoneID == ZoneID(name: "Notes", owner: "_alice", scope: .shared))
    let id = RecordID(name: "a", zoneID: handler.zoneID)
    let edit = Record(recordType: "Note", recordID: id, fields: ["x": 1])

    #expect(guest.createZone()?.failure?.code == .zoneNotFound)
    #expect(guest.fetch()?.failure?.code == .zoneNotFound)
    #expect(guest.modify([edit])?.failure?.code == .zoneNotFound)

    _ = owner.createZone()
    stub.share(owner: "_alice", account: StubWorld.alice)
    #expect(try guest.createZone()?.get() == true)
    let saved = try #require(try guest.modify([edit])?.get().savedRecords.first)
    #expect(saved.recordID == id)
    let page = try #require(try guest.fetch()?.get())
    #expect(page.changedRecords.map(\.recordID) == [id])
    #expect(stub.requests.allSatisfy { $0.owner == "_alice" })
    #expect(try world.stubs.record("a")?["x"] == 1)
    #expect(stub.requests.contains { $0.kind == .fetchZone })
    #expect(!stub.requests.contains { $0.kind == .createZone })
  }

  @Test(
    "Scenario 31: whichever owner CloudKit writes in the private database, records are in the session's zone"
  )
  func realOwner() throws {
    var ways = StubWays()
    ways.hasRealOwners = true
    let pad = world.device("pad")
    try pad.save([
      world.note("a"), world.note("b", ["to": .reference(Reference(recordID: world.id("a")))]),
    ])
    let phone = world.device(ways: ways)

    phone.fetch()

    let records = phone.announced.pages.flatMap(\.changedRecords)
    #expect(records.map(\.recordID).sorted() == [world.id("a"), world.id("b")])
    let link = records.first { $0.recordID.name == "b" }?["to"]?.referenceValue
    #expect(link?.recordID == world.id("a"))
    #expect(phone.announced.pages.flatMap(\.failures).isEmpty)
    let tag = records.first { $0.recordID.name == "a" }?.changeTag
    phone.stub.forgetRequests()
    try phone.save([world.note("a", ["x": 2], tag: tag)])
    #expect(phone.stub.requests.map(\.kind) == [.modify])
    #expect(try world.stubs.record("a")?["x"] == 2)
  }
}
