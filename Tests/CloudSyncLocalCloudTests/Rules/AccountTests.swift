import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud: accounts, throttling and pushes")
struct AccountTests {
  @Test("What an account's status answers", arguments: AccountStatus.allCases, StoreKind.allCases)
  func statusErrors(status: AccountStatus, kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    let pad = try world.device("pad")
    try world.cloud.setAccountStatus(status, account: CloudWorld.alice)
    let expected: SyncError.Code? =
      switch status {
      case .available: nil
      case .temporarilyUnavailable: .accountTemporarilyUnavailable
      default: .notAuthenticated
      }

    #expect(device.modify([device.note("a")]).error?.code == expected)
    #expect(pad.fetch().error?.code == expected)
    #expect(device.createZone().error?.code == expected)
    #expect(device.subscribe().error?.code == expected)
    let database = { try device.connection.fetchDatabaseChanges(since: nil) }
    if expected == nil {
      _ = try database()
    } else {
      #expect(throws: SyncError.self) { _ = try database() }
    }
  }

  @Test("Nobody sees what another account has", arguments: StoreKind.allCases)
  func accountsAreApart(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let alice = try world.device("phone", CloudWorld.alice)
    let saved = try alice.save(alice.note("secret"))[0]
    let bob = try world.device("phone", CloudWorld.bob)

    #expect(try bob.fetch().get().isEmpty)
    #expect(bob.modify([saved]).itemCodes == ["secret": .unknownItem])
    #expect(try bob.fetch(FetchOperation(lookingUp: [bob.id("secret")])).get().failures.count == 1)
    #expect(try bob.modify(delete: ["secret"]).get().deletedRecordIDs.count == 1)
    #expect(try world.names() == ["secret"])
    #expect(try world.names(CloudWorld.bob).isEmpty)
  }

  @Test("Accounts and devices whose names look alike are apart", arguments: StoreKind.allCases)
  func hostileAccountNames(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let names = ["a", "a/1", "", "a\u{0}", "é", "e\u{301}", "zone/1", "%", "a_"]
    for name in names {
      let device = try world.device("phone", AccountIdentity(name))
      try device.save(device.note("r"))
    }

    for name in names { #expect(try world.names(AccountIdentity(name)) == ["r"]) }
  }

  @Test(
    "A device may sign out and in as somebody else, and tells who it is",
    arguments: StoreKind.allCases
  )
  func signIn(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let device = try world.device()
    device.connection.signIn(nil)
    #expect(device.fetch().error?.code == .notAuthenticated)

    device.connection.signIn(CloudWorld.bob)

    #expect(device.connection.account == CloudWorld.bob)
    #expect(device.fetch().error?.code == .zoneNotFound)
  }

  // MARK: Throttling

  @Test(
    "A device that sends too much is told to wait, as the same seed says it",
    arguments: StoreKind.allCases
  )
  func throttle(kind: StoreKind) throws {
    func run() throws -> [Duration] {
      let world = try CloudWorld(kind) { $0.throttle = .init(burst: 10, refillPerSecond: 2) }
      let phone = try world.device("phone")
      let pad = try world.device("pad")
      var waits: [Duration] = []
      _ = try phone.modify((0..<10).map { phone.note("r\($0)") }).get()
      for _ in 0..<3 {
        let error = try #require(phone.modify([phone.note("x")]).error)
        #expect(error.code == .requestRateLimited)
        waits.append(try #require(error.retryAfter))
      }
      #expect(pad.modify([pad.note("p")]).error == nil)
      #expect(phone.fetch().error == nil)
      world.advance(by: .milliseconds(1_499))
      #expect(phone.modify([phone.note("x"), phone.note("y"), phone.note("z")]).error != nil)
      world.advance(by: .milliseconds(1))
      #expect(phone.modify([phone.note("x"), phone.note("y"), phone.note("z")]).error == nil)
      return waits
    }

    let waits = try run()

    #expect(waits.allSatisfy { $0 >= .seconds(11) && $0 <= .seconds(76) })
    #expect(Set(waits).count > 1)
    #expect(try run() == waits)
  }

  @Test("A request larger than the bucket passes when the bucket is full")
  func largeRequestPasses() throws {
    let world = try CloudWorld { options in
      options.throttle = .init(burst: 2, refillPerSecond: 1, code: .serviceUnavailable)
    }
    let device = try world.device()

    #expect(device.modify((0..<5).map { device.note("r\($0)") }).error == nil)
    #expect(device.modify([device.note("x")]).error?.code == .serviceUnavailable)
    world.advance(by: .seconds(1_000_000_000))
    #expect(device.modify((0..<5).map { device.note("s\($0)") }).error == nil)
  }

  // MARK: Pushes

  @Test("Other devices that subscribed get a push for every change", arguments: StoreKind.allCases)
  func pushes(kind: StoreKind) throws {
    let world = try CloudWorld(kind)
    let phone = try world.device("phone")
    let pad = try world.device("pad")
    let mac = try world.device("mac")
    _ = try phone.subscribe().get()
    _ = try pad.subscribe().get()
    _ = try pad.subscribe().get()

    try phone.save(phone.note("a"))
    _ = try phone.modify(delete: ["a"]).get()
    _ = phone.modify([phone.note("b", tag: "forged")])

    #expect(pad.connection.takePushes().map(\.zoneID) == [CloudWorld.zoneID, CloudWorld.zoneID])
    #expect(pad.connection.takePushes().isEmpty)
    #expect(phone.connection.takePushes().isEmpty)
    #expect(mac.connection.takePushes().isEmpty)
  }

  @Test("A listener is called for each push, and may call the cloud")
  func listener() throws {
    let world = try CloudWorld()
    let phone = try world.device("phone")
    let pad = try world.device("pad")
    _ = try pad.subscribe().get()
    let seen = Locked<[Int]>([])
    pad.connection.onPush { _ in
      let count = (try? pad.fetch().get().changedRecords.count) ?? -1
      seen.withLock { $0.append(count) }
    }

    try phone.save(phone.note("a"))
    try phone.save(phone.note("b"))

    #expect(seen.withLock { $0 } == [1, 2])
    pad.connection.onPush(nil)
    try phone.save(phone.note("c"))
    #expect(seen.withLock { $0 }.count == 2)
    #expect(pad.connection.takePushes().count == 1)
  }

  @Test("Pushes are merged, lost and late by option only")
  func crookedPushes() throws {
    let world = try CloudWorld { $0.pushes.areMerged = true }
    let phone = try world.device("phone")
    let pad = try world.device("pad")
    _ = try pad.subscribe().get()
    for index in 0..<5 { try phone.save(phone.note("a\(index)")) }
    #expect(pad.connection.takePushes().count == 1)

    world.change { options in
      options.pushes.areMerged = false
      options.pushes.lostPerMille = 500
    }
    for index in 0..<100 { try phone.save(phone.note("b\(index)")) }
    #expect((20...80).contains(pad.connection.takePushes().count))

    world.change { options in
      options.pushes.lostPerMille = 0
      options.pushes.delay = .seconds(3)
    }
    try phone.save(phone.note("c"))
    #expect(pad.connection.takePushes().isEmpty)
    let count = Locked(0)
    pad.connection.onPush { _ in count.withLock { $0 += 1 } }
    world.advance(by: .seconds(3))
    world.cloud.deliverPushes()
    #expect(count.withLock { $0 } == 1)
  }

  @Test("A subscription goes with its zone, whose end is its last push")
  func subscriptionGoesWithZone() throws {
    let world = try CloudWorld()
    let phone = try world.device("phone")
    let pad = try world.device("pad")
    _ = try pad.subscribe().get()
    try world.cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice)
    #expect(pad.connection.takePushes().count == 1)
    _ = try phone.createZone().get()

    try phone.save(phone.note("a"))

    #expect(pad.connection.takePushes().isEmpty)
  }
}
