import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Accounts that come and go: nothing of one goes to another.
@Suite struct AccountTests {
  private static func remote(
    _ bench: HistoryBench,
    _ handler: LocalCloudConnection
  ) throws -> ChangesetRemote {
    try ChangesetRemote(
      bench.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone,
      accountProvider: handler.accountStatus
    )
  }

  private static func expect(
    _ code: ChangesetError.Code,
    _ place: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      Issue.record("nothing was thrown", sourceLocation: place)
    } catch { #expect((error as? ChangesetError)?.code == code, sourceLocation: place) }
  }

  @Test func nothingGoesToAnotherAccountUntilItIsAdopted() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let handler = RemoteBench.handler(cloud, device: "desk")
    let one = try Self.remote(desk, handler)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    handler.signIn(RemoteBench.bob)
    one.session.accountDidChange()
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    await Self.expect(.accountChanged) { try await one.push() }
    await Self.expect(.accountChanged) { try await one.fetch() }
    // A later process knows whose the history is.
    one.session.stop()
    let later = try Self.remote(desk, handler)
    await Self.expect(.accountChanged) { try await later.sync() }
    await Self.expect(.accountChanged) { try await later.setup() }
    #expect(try RemoteBench.packs(cloud, of: RemoteBench.bob) == [])
    // The account is back: all goes on.
    handler.signIn(RemoteBench.ada)
    #expect(try await later.push().count == 1)
    #expect(throws: ChangesetError.self) { try later.adopt() }
    try desk.commit("UPDATE people SET score = 1")
    handler.signIn(RemoteBench.bob)
    later.session.accountDidChange()
    await Self.expect(.accountChanged) { try await later.push() }
    try later.adopt()
    #expect(try await later.push().count == 3)
    #expect(try RemoteBench.packs(cloud).count == 2)
    let phone = try HistoryBench(replica: "phone")
    let his = RemoteBench.handler(cloud, device: "phone")
    his.signIn(RemoteBench.bob)
    #expect(try await Self.remote(phone, his).fetch().count == 3)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
    // The cloud of the first account has got nothing that was committed since.
    try desk.commit("INSERT INTO people(id) VALUES('c')")
    try await later.sync()
    #expect(try RemoteBench.packs(cloud).count == 2)
  }

  @Test func withoutAnAccountCallsEndWithTheReason() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let handler = RemoteBench.handler(cloud, device: "desk")
    handler.signIn(nil)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    let one = try Self.remote(desk, handler)
    let other = try RemoteBench.remote(desk, cloud)
    other.session.stop()
    await Self.expect(.cloud) { try await one.push() }
    await Self.expect(.cloud) { try await one.sync() }
    handler.signIn(RemoteBench.ada)
    #expect(try await one.push().count == 1)
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    handler.signIn(nil)
    one.session.accountDidChange()
    await Self.expect(.cloud) { try await one.push() }
    handler.signIn(RemoteBench.ada)
    #expect(try await one.sync().received == 0)
  }

  @Test func withoutAProviderASignedOutCloudEndsCallsToo() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let handler = RemoteBench.handler(cloud, device: "desk")
    handler.signIn(nil)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    let one = try ChangesetRemote(
      desk.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    await Self.expect(.cloud) { try await one.push() }
    handler.signIn(RemoteBench.ada)
    // What the session was given before is sent first.
    try await one.sync()
    #expect(try RemoteBench.packs(cloud).count == 1)
    #expect(try desk.repository.log().allSatisfy(\.isPushed))
  }

  @Test func aCallThatBeginsInATroubleEndsWithIt() async throws {
    let calls = RemoteCalls { _ in }
    calls.begin(trouble: .zone, error: ChangesetError(.cloud, "the zone is gone"))
    calls.begin(trouble: .account, error: .anotherAccount)
    let isSubmitted = Locked(false)
    await Self.expect(.accountChanged) {
      let _: Int = try await calls.run { _ in
        isSubmitted.withLock { $0 = true }
        return .unassigned
      }
    }
    #expect(!isSubmitted.withLock { $0 })
    calls.end(trouble: .account)
    await Self.expect(.cloud) { let _: Int = try await calls.run { _ in .unassigned } }
    calls.end(trouble: .zone)
    let value: Int = try await calls.run { done in
      done(.success(7))
      return .unassigned
    }
    #expect(value == 7)
  }

  @Test func whatACallHasAskedForEndsWithIt() async throws {
    let cancelled = Locked<[OperationID]>([])
    let calls = RemoteCalls { id in cancelled.withLock { $0.append(id) } }
    let error = ChangesetError(.cloud, "the cloud refuses everything")
    let early = OperationID(epoch: 1, number: 1)
    await Self.expect(.cloud) {
      let _: Int = try await calls.run { _ in
        calls.fail(error: error)
        return early
      }
    }
    let late = OperationID(epoch: 1, number: 2)
    let (begun, begins) = AsyncStream<Void>.makeStream()
    let failing = Task {
      for await _ in begun { break }
      calls.fail(error: error)
    }
    await Self.expect(.cloud) {
      let _: Int = try await calls.run { _ in
        begins.yield()
        return late
      }
    }
    await failing.value
    let answered = OperationID(epoch: 1, number: 3)
    let value: Int = try await calls.run { done in
      done(.success(7))
      return answered
    }
    calls.fail(error: error)
    #expect(value == 7)
    #expect(cancelled.withLock { $0 } == [early, late])
  }

  @Test func whoeverComesWhileTheZoneIsLostIsToldToo() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let one = try RemoteBench.remote(desk, cloud)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    one.calls.begin(trouble: .zone, error: ChangesetError(.cloud, "the zone is gone"))
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    for _ in 0..<2 { await Self.expect(.cloud) { try await one.sync() } }
    // A reset is the decision that is waited for.
    try await one.reset()
    #expect(try RemoteBench.packs(cloud).count == 1)
  }

  @Test func adoptingIsDoneOrNotDoneWhenAProcessEnds() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let handler = RemoteBench.handler(cloud, device: "desk")
    let one = try Self.remote(desk, handler)
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.push()
    // The decision is stored, and the session did not hear of it.
    try RemoteState.adopt(account: RemoteBench.bob, in: desk.repository)
    one.session.stop()
    handler.signIn(RemoteBench.bob)
    #expect(try await Self.remote(desk, handler).push().count == 1)
    #expect(try RemoteBench.packs(cloud, of: RemoteBench.bob).count == 1)
  }
}
