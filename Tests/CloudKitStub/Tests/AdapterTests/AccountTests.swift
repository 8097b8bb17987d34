import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("Accounts and pushes")
struct AccountTests {
  private let world = AdapterWorld()

  private func follow(_ stub: StubCloud) -> (AdapterDevice, CloudKitAccount) {
    let handler = world.handler(stub)
    let session = world.session(handler)
    let account = CloudKitAccount(container: stub.container)
    session.appendMiddleware(AccountStatusMiddleware(provider: account.provider))
    account.follow(session)
    let device = AdapterDevice(world: world.world, stub: stub, handler: handler, session: session)
    session.start()
    world.world.runToEnd(limit: .seconds(5))
    return (device, account)
  }

  private func tellOfChange() {
    NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    world.world.runToEnd(limit: .seconds(5))
  }

  @Test(
    "Scenario 28: available, none, another: the switch is asked about, and no edit of the first is sent"
  )
  func switched() throws {
    let stub = world.stub()
    let (phone, account) = follow(stub)
    try phone.save([world.note("a")])
    #expect(try world.stubs.record("a") != nil)

    stub.signIn(nil)
    tellOfChange()
    try phone.save([world.note("b")])
    stub.forgetRequests()
    stub.signIn(AccountIdentity("bob"))
    tellOfChange()

    #expect(
      phone.state.accountState == .switched(from: StubWorld.alice, to: AccountIdentity("bob"))
    )
    #expect(stub.requests.isEmpty)
    #expect(phone.state.hasWorkQueued)
    let bobs = try world.stubs.cloud.records(account: AccountIdentity("bob"), zone: world.zoneID)
    #expect(bobs.isEmpty)
    withExtendedLifetime(account) {}
  }

  @Test(
    "Scenario 28: while the account is temporarily unavailable nothing is sent, and nothing dropped"
  )
  func temporarilyUnavailable() throws {
    let stub = world.stub()
    stub.signIn(StubWorld.alice, status: .temporarilyUnavailable)
    let (phone, account) = follow(stub)
    try phone.save([world.note("a")])
    #expect(stub.requests.isEmpty)

    stub.signIn(StubWorld.alice)
    tellOfChange()
    world.world.runToEnd(limit: .seconds(600))

    #expect(try world.stubs.record("a") != nil)
    #expect(phone.announced.completions.count == 1)
    withExtendedLifetime(account) {}
  }

  @Test(
    "Every status is the one of its number, with an identity only where it is available",
    arguments: 0...4
  )
  func statuses(number: Int) throws {
    let stub = world.stub()
    stub.signIn(StubWorld.alice, status: try #require(CKAccountStatus(rawValue: number)))
    let told = Shared<[AccountStatus]>([])
    let session = world.session(world.handler(stub))
    let account = CloudKitAccount(container: stub.container)
    session.appendMiddleware(AccountStatusMiddleware(provider: account.provider))
    session.accountStatusSubject.sink { status in told.with { $0.append(status) } }

    session.start()
    world.world.runToEnd(limit: .seconds(1))

    #expect(told.with { $0.last }?.rawValue == number)
    #expect((session.state.accountState == .ready(StubWorld.alice)) == (number == 1))
  }

  // MARK: Pushes

  private func push(scope: Int, subscription: String = "cloudsync-private") -> [AnyHashable: Any] {
    ["ck": ["met": ["dbs": scope, "sid": subscription]] as [String: Any]]
  }

  private func push(
    zone: String,
    subscription: String = "cloudsync-private-Notes"
  )
    -> [AnyHashable: Any]
  {
    ["ck": ["fet": ["zid": zone, "zoid": "_alice", "sid": subscription]] as [String: Any]]
  }

  /// A session in real time, over a handler with a subscription.
  private func live(
    _ stub: StubCloud,
    _ subscription: CloudKitOptions.Subscription
  ) -> (CloudSyncSession, CloudKitOperationHandler) {
    var options = CloudKitOptions()
    options.subscription = subscription
    let handler = CloudKitOperationHandler(
      database: stub.container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName),
      options: options
    )
    return (CloudSyncSession(operationHandler: handler, zoneID: handler.zoneID), handler)
  }

  @Test(
    "Scenario 29: pushes of our database and our zone bring what is new, those of others are none of ours"
  )
  func pushes() async throws {
    let calls = HandlerCalls(world.handler(world.stub("pad")))
    _ = calls.createZone()
    let pushes = CloudKitPushes()
    let stub = world.stub()
    let (database, databaseHandler) = live(stub, .database)
    let (zone, zoneHandler) = live(stub, .zone)
    for (session, handler) in [(database, databaseHandler), (zone, zoneHandler)] {
      pushes.add(session, handler: handler)
      session.start()
      #expect(await session.idle(upTo: .seconds(300)))
    }

    _ = calls.modify([world.note("a")])
    #expect(await pushes.take(push(scope: 2), upTo: .seconds(300)) == .new)
    #expect(await pushes.take(push(scope: 2), upTo: .seconds(300)) == .nothing)
    #expect(await pushes.take(push(zone: "Notes"), upTo: .seconds(300)) == .new)

    #expect(await pushes.take(push(scope: 3), upTo: .seconds(300)) == nil)
    #expect(await pushes.take(push(zone: "Others"), upTo: .seconds(300)) == nil)
    #expect(await pushes.take(push(scope: 2, subscription: "theirs"), upTo: .seconds(300)) == nil)
    #expect(await pushes.take(["aps": ["alert": "hello"]], upTo: .seconds(300)) == nil)
    #expect(await pushes.take(["ck": "nonsense"], upTo: .seconds(300)) == nil)
    #expect(await pushes.take([:], upTo: .seconds(300)) == nil)
    stub.setFault { _ in .fail(StubErrors.error(15, "no")) }
    #expect(await pushes.take(push(scope: 2), upTo: .seconds(300)) == .failed)
    withExtendedLifetime([database, zone]) {}
  }

  @Test("A push for a session that is gone is none of ours")
  func releasedSession() async {
    let pushes = CloudKitPushes()
    let stub = world.stub()
    do {
      let (session, handler) = live(stub, .database)
      pushes.add(session, handler: handler)
    }

    #expect(await pushes.take(push(scope: 2), upTo: .seconds(300)) == nil)
  }

  @Test("The subscription is one a database, or one a zone", arguments: [false, true])
  func subscriptions(isOfZone: Bool) throws {
    let stub = world.stub()
    let calls = HandlerCalls(world.handler(stub) { $0.subscription = isOfZone ? .zone : .database })

    #expect(try calls.createSubscription()?.get() == true)
    #expect(try calls.createSubscription()?.get() == true)

    let name = isOfZone ? "cloudsync-private-Notes" : "cloudsync-private"
    #expect(stub.requests.map(\.subscriptionID) == [name, name])
  }
}
