import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncTestSupport
import Testing

@Suite("LocalCloud with sessions")
struct SessionTests {
  /// A session with its world, and what it fetched.
  private final class Phone: Sendable {
    let world: VirtualEnvironment
    let session: CloudSyncSession
    let connection: LocalCloudConnection
    let fetched = Collector<FetchOperation.Response>()
    let statuses = Collector<AccountStatus>()

    init(_ cloud: LocalCloud, _ name: String, in world: VirtualEnvironment) {
      self.world = world
      connection = cloud.connect(
        device: name,
        account: CloudWorld.alice,
        zoneID: CloudWorld.zoneID,
        executor: world.executor
      )
      session = CloudSyncSession(
        operationHandler: connection,
        zoneID: CloudWorld.zoneID,
        environment: world.environment
      )
      session.appendMiddleware(AccountStatusMiddleware(provider: connection.accountStatus))
      session.fetchWorkCompletedSubject.sink { [fetched] _, page in fetched.add(page) }
      session.start()
    }

    func run() { world.runToEnd() }
  }

  @Test("Two sessions meet conflicts on one cloud and converge", arguments: StoreKind.allCases)
  func converge(kind: StoreKind) throws {
    let cloud = try CloudWorld(kind).cloud
    let phones = ["a", "b"].map { Phone(cloud, $0, in: VirtualEnvironment()) }
    for phone in phones { phone.run() }
    for (index, phone) in phones.enumerated() {
      let records = (0..<900)
        .map { number in
          Record(
            recordType: "Note",
            recordID: RecordID(name: "n\(number)", zoneID: CloudWorld.zoneID),
            fields: ["from\(index)": .int64(Int64(number))]
          )
        }
      try phone.session.modify(ModifyOperation(records: records))
      phone.session.fetch(FetchOperation())
    }
    for phone in phones + phones { phone.run() }

    let stored = try cloud.records(account: CloudWorld.alice, zone: CloudWorld.zoneID)

    #expect(stored.count == 900)
    #expect(stored.allSatisfy { $0.fields.count == 2 })
    for phone in phones {
      #expect(phone.session.state.isRunning)
      #expect(!phone.session.state.hasWorkQueued)
    }
  }

  @Test(
    "73. 100 devices that are all told to wait 30 s come back spread, and no second wave is refused"
  )
  func secondWave() throws {
    let world = VirtualEnvironment()
    let cloud = LocalCloud { world.now }
    let door = CrowdedDoor(world)
    let sessions = (0..<100)
      .map { number in
        let connection = cloud.connect(
          device: "d\(number)",
          account: CloudWorld.alice,
          zoneID: CloudWorld.zoneID,
          executor: world.executor
        )
        return CloudSyncSession(
          operationHandler: CrowdHandler(base: connection, door: door),
          zoneID: CloudWorld.zoneID,
          environment: world.environment
        )
      }
    for (number, session) in sessions.enumerated() {
      session.start()
      let record = Record(
        recordType: "Note",
        recordID: RecordID(name: "n\(number)", zoneID: CloudWorld.zoneID),
        fields: ["x": 1]
      )
      try session.modify(ModifyOperation(records: [record]))
    }
    world.runToEnd()
    let times = door.times.withLock { $0 }
    // Each was refused once, and sent once more.
    #expect(times.count == 200)
    let again = times.dropFirst(100).sorted()
    #expect(times.prefix(100).allSatisfy { $0 == 0 })
    #expect(again.allSatisfy { $0 >= 30_000 })
    for time in again {
      #expect(again.count { ($0 - time) >= 0 && $0 - time < 1_000 } <= CrowdedDoor.bucket)
    }
    let stored = try cloud.records(account: CloudWorld.alice, zone: CloudWorld.zoneID)
    #expect(stored.count == 100)
  }

  @Test("A session comes through a throttle, a lost zone and a full account")
  func troubles() throws {
    let world = VirtualEnvironment()
    var options = LocalCloudOptions()
    options.throttle = .init(burst: 2, refillPerSecond: 1)
    let cloud = LocalCloud(options: options) { world.now }
    let phone = Phone(cloud, "a", in: world)
    phone.run()
    let names = {
      try cloud.records(account: CloudWorld.alice, zone: CloudWorld.zoneID).map(\.recordID.name)
    }
    func submit(_ name: String) throws {
      let id = RecordID(name: name, zoneID: CloudWorld.zoneID)
      try phone.session.modify(
        ModifyOperation(records: [Record(recordType: "Note", recordID: id, fields: ["x": 1])])
      )
      phone.run()
    }
    try submit("first")
    try cloud.deleteZone(CloudWorld.zoneID, account: CloudWorld.alice)
    try submit("second")
    #expect(try names() == ["second"])

    try cloud.setAccountStatus(.noAccount, account: CloudWorld.alice)
    phone.session.accountDidChange()
    try submit("third")
    #expect(try names() == ["second"])
    try cloud.setAccountStatus(.available, account: CloudWorld.alice)
    phone.session.accountDidChange()
    phone.run()
    #expect(try names() == ["second", "third"])

    try cloud.setQuota(1, account: CloudWorld.alice)
    try submit("fourth")
    #expect(try names() == ["second", "third"])
    try cloud.setQuota(nil, account: CloudWorld.alice)
    phone.run()
    #expect(try names() == ["fourth", "second", "third"])
  }
}

/// A service that refuses whoever comes in its first second, and later whoever its bucket has no room for.
private final class CrowdedDoor: Sendable {
  /// How many requests it takes in a second.
  static let bucket = 50

  let times = Locked<[Int64]>([])
  private let world: VirtualEnvironment

  init(_ world: VirtualEnvironment) { self.world = world }

  /// Why a request has to wait; nil if it may pass.
  func refusal() -> SyncError? {
    let time = world.elapsedNanoseconds / 1_000_000
    let count = times.withLock { times in
      times.append(time)
      return times.count { time - $0 < 1_000 }
    }
    guard time < 1_000 || count > Self.bucket else { return nil }
    return SyncError(.requestRateLimited, "too many", retryAfter: .seconds(30))
  }
}

/// A device's way to the cloud; only what it saves has to pass the door.
private struct CrowdHandler: OperationHandler {
  let base: LocalCloudConnection
  let door: CrowdedDoor

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
    if let refusal = door.refusal() { return completion(.failure(refusal)) }
    base.handle(modifyOperation: modifyOperation, context: context, completion: completion)
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) { base.handle(fetchOperation: fetchOperation, context: context, completion: completion) }
}
