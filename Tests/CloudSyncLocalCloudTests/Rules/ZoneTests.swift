import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: zones and the feed of the database")
struct ZoneTests {
  private func code(_ body: () throws -> Void) -> SyncError.Code? {
    do { try body() } catch let error as SyncError { return error.code } catch { return nil }
    return nil
  }

  @Test("Nothing works in a zone that was never created", arguments: StoreKind.allCases)
  func zoneNotFound(kind: StoreKind) throws {
    let device = try CloudWorld(kind).connect()

    #expect(device.modify([device.note("a")]).error?.code == .zoneNotFound)
    #expect(device.fetch().error?.code == .zoneNotFound)
    #expect(device.subscribe().error?.code == .zoneNotFound)
  }

  @Test("Creating a zone that exists changes nothing", arguments: StoreKind.allCases)
  func createTwice(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(device.note("a"))
    let token = try device.connection.fetchDatabaseChanges(since: nil).changeToken

    #expect(try device.createZone().get())

    #expect(try world.names() == ["a"])
    #expect(try device.connection.fetchDatabaseChanges(since: token).changedZoneIDs.isEmpty)
  }

  @Test(
    "A zone that is gone answers by the reason, until it is created again",
    arguments: ZoneDeletionReason.allCases,
    StoreKind.allCases
  )
  func goneZone(reason: ZoneDeletionReason, kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    try device.save(device.note("a"))
    let token = try device.connection.fetchDatabaseChanges(since: nil).changeToken

    #expect(
      try world.cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice, reason: reason)
    )
    #expect(try !world.cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice))

    for error in [device.modify([device.note("a")]).error, device.fetch().error] {
      #expect(error?.code == (reason == .purged ? .userDeletedZone : .zoneNotFound))
      #expect(error?.isEncryptedDataReset == (reason == .encryptedDataReset))
    }
    let changes = try device.connection.fetchDatabaseChanges(since: token)
    #expect(changes.deletedZones == [DeletedZone(zoneID: CloudWorld.zoneID, reason: reason)])
    #expect(try world.cloud.usedByteCount(account: CloudWorld.alice) == 0)
    #expect(try device.createZone().get())
    #expect(try world.names().isEmpty)
    #expect(
      try device.connection.fetchDatabaseChanges(since: token).changedZoneIDs == [CloudWorld.zoneID]
    )
    #expect(device.modify([device.note("a")]).error == nil)
  }

  @Test(
    "The feed of the database tells new and changed zones once, at their last place, in pages",
    arguments: StoreKind.allCases
  )
  func databaseFeed(kind: StoreKind) throws {
    let world = try CloudWorld(kind) { $0.pageSize = 2 }
    let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
    let devices = try zones.map { try world.device("phone", CloudWorld.alice, $0) }
    let first = try devices[0].connection.fetchDatabaseChanges(since: nil)
    #expect(first.changedZoneIDs == [zones[0], zones[1]])
    #expect(first.hasMore)
    let second = try devices[0].connection.fetchDatabaseChanges(since: first.changeToken)
    #expect(second.changedZoneIDs == [zones[2]])
    #expect(!second.hasMore)

    try devices[0].save(devices[0].note("a"))
    try devices[0].save(devices[0].note("b"))

    let third = try devices[0].connection.fetchDatabaseChanges(since: second.changeToken)
    #expect(third.changedZoneIDs == [zones[0]])
    #expect(
      try devices[1].connection.fetchDatabaseChanges(since: second.changeToken).changedZoneIDs == [
        zones[0]
      ]
    )
  }

  @Test("Tokens of the database expire, may vary, and mean nothing to another account")
  func databaseTokens() throws {
    let world = try CloudWorld()
    let device = try world.device()
    let bob = try world.device("phone", CloudWorld.bob)
    let token = try device.connection.fetchDatabaseChanges(since: nil).changeToken
    #expect(try device.connection.fetchDatabaseChanges(since: token).changeToken == token)
    #expect(
      code { _ = try bob.connection.fetchDatabaseChanges(since: token) } == .invalidArguments
    )

    world.change { $0.variesDatabaseTokens = true }
    let varied = try device.connection.fetchDatabaseChanges(since: token).changeToken
    #expect(varied != token)
    #expect(try device.connection.fetchDatabaseChanges(since: varied).changedZoneIDs.isEmpty)

    try world.cloud.expireDatabaseTokens(account: CloudWorld.alice)
    #expect(
      code { _ = try device.connection.fetchDatabaseChanges(since: varied) } == .changeTokenExpired
    )
  }

  @Test("Zones are created in the private database only, under valid names, by their owner")
  func whichZones() throws {
    let world = try CloudWorld()
    func create(_ zoneID: ZoneID) -> SyncError.Code? {
      world.connect("phone", CloudWorld.alice, zoneID).createZone().error?.code
    }

    #expect(create(ZoneID(name: "Shared", owner: "bob", scope: .shared)) == .badDatabase)
    #expect(create(ZoneID(name: "Public", scope: .public)) == .badDatabase)
    #expect(create(ZoneID(name: "Notes", owner: "bob")) == .invalidArguments)
    for name in ["", "_under", "é", String(repeating: "x", count: 256)] {
      #expect(create(ZoneID(name: name)) == .invalidArguments)
    }
    let device = world.connect()
    #expect(device.createZone(ZoneID(name: "Other")).error?.code == .invalidArguments)
  }

  @Test("Nobody has shared a zone, so none is found")
  func sharedZone() throws {
    let device = try CloudWorld()
      .connect("phone", CloudWorld.alice, ZoneID(name: "Z", owner: "bob", scope: .shared))

    #expect(device.fetch().error?.code == .zoneNotFound)
    #expect(device.modify([device.note("a")]).error?.code == .zoneNotFound)
  }

  @Test(
    "The default zone is always there, is not atomic and has no feed",
    arguments: StoreKind.allCases
  )
  func defaultZone(kind: StoreKind) throws {
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    let world = try CloudWorld(kind)
    let device = world.connect("phone", CloudWorld.alice, zoneID)
    try device.save(device.note("taken"))

    let answer = device.modify([device.note("a"), device.note("taken")])

    #expect(answer.itemCodes == ["taken": .serverRecordChanged])
    #expect(try world.names(CloudWorld.alice, zoneID) == ["a", "taken"])
    #expect(device.fetch().error?.code == .invalidArguments)
    #expect(
      try device.fetch(FetchOperation(lookingUp: [device.id("a")])).get().changedRecords.count == 1
    )
  }
}
