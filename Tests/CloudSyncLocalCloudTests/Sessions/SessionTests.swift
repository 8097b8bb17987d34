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
