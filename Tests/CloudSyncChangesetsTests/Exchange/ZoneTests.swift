import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Zones that go and come again, and apps of several versions in one: every commit is in the cloud in the end.
@Suite struct ZoneTests {
  @Test func whatAZoneLacksThatAnotherReplicaHasMadeAgainIsSentAgain() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let (phone, pad) = (try HistoryBench(replica: "phone"), try HistoryBench(replica: "pad"))
    let one = try RemoteBench.remote(desk, cloud)
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    let third = try RemoteBench.remote(pad, cloud, device: "pad")
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    for remote in [one, other, third] { try await remote.sync() }
    // Two have a commit that the third has not got.
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.sync()
    try await other.sync()
    try cloud.deleteZone(RemoteBench.zone, account: RemoteBench.ada, reason: .deleted)
    // The third makes the zone again, with what it has; the others find a zone that is there.
    try pad.commit("INSERT INTO people(id) VALUES('c')")
    try await third.sync()
    for remote in [one, other, third, one, other] { try await remote.sync() }
    try HistoryBench.expectEqual([desk, phone, pad])
    let fresh = try HistoryBench(replica: "fresh")
    let last = try RemoteBench.remote(fresh, cloud, device: "fresh")
    try await last.sync()
    try HistoryBench.expectEqual([desk, fresh])
    #expect(try fresh.repository.status().waitingCount == 0)
  }

  @Test func packsThatSomebodyHasDeletedAreSentAgain() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let one = try RemoteBench.remote(desk, cloud)
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    for (bench, remote) in [(desk, one), (phone, other), (desk, one)] {
      try bench.commit("INSERT INTO people(id) VALUES(lower(hex(randomblob(4))))")
      try await remote.sync()
    }
    // As a reset does whose request arrives when all that it was for is over.
    let stranger = CloudSyncSession(
      operationHandler: RemoteBench.handler(cloud, device: "stranger"),
      zoneID: RemoteBench.zone,
      resolver: .fieldwise(default: .client)
    )
    stranger.start()
    defer { stranger.stop() }
    let deleted = try RemoteBench.packs(cloud).dropLast().map(\.recordID)
    #expect(deleted.count > 1)
    _ = try await stranger.perform(ModifyOperation(recordIDsToDelete: deleted))
    for remote in [other, one, other] { try await remote.sync() }
    let fresh = try HistoryBench(replica: "fresh")
    try await RemoteBench.remote(fresh, cloud, device: "fresh").sync()
    try HistoryBench.expectEqual([desk, phone, fresh])
    #expect(try fresh.repository.log().count == phone.repository.log().count)
    #expect(try phone.rows("SELECT * FROM changesets_info WHERE name = 'deletions'") == [])
  }

  @Test func anAppThatHasToBeUpdatedSendsItsCommitsAllTheSame() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note, age INTEGER DEFAULT 1)",
      replica: "desk"
    )
    let phone = try HistoryBench(replica: "phone")
    let one = try RemoteBench.remote(desk, cloud)
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    try phone.commit("INSERT INTO people(id) VALUES('a')")
    try await other.sync()
    try await one.sync()
    try desk.commit("INSERT INTO people(id, age) VALUES('b', 7)")
    try await one.sync()
    try phone.repository.tag("then", .head)
    let error = await #expect(throws: ChangesetError.self) { try await other.sync() }
    #expect(error?.code == .needsUpgrade)
    try await one.sync()
    #expect(try desk.repository.tags().map(\.name) == ["then"])
    try phone.commit("INSERT INTO people(id) VALUES('c')")
    try await other.sync()
    #expect(try phone.repository.status().unpushedCount == 0)
    try await one.sync()
    #expect(
      try desk.rows("SELECT id, age FROM people ORDER BY id") == ["'a', 1", "'b', 7", "'c', 1"]
    )
    // What it has itself it can look at, and come back from.
    try phone.repository.checkout("HEAD~1")
    try phone.repository.switchBranch("main")
    #expect(try phone.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'c'"])
  }

  @Test func callsEndWhenTheRemoteIsStopped() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "desk"))
    let remote = try ChangesetRemote(
      desk.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    handler.beforeFetch.withLock {
      $0 = {
        remote.stop()
        return SyncError(.networkUnavailable)
      }
    }
    let error = await #expect(throws: ChangesetError.self) { try await remote.fetch() }
    #expect(error?.code == .cloud)
    handler.beforeFetch.withLock { $0 = nil }
    try await remote.fetch()
  }

  @Test(arguments: [true, false])
  func whatACloudHasLostThatWasPutBackIsSentAgain(restarts: Bool) async throws {
    let store = MemoryStore()
    let cloud = LocalCloud(store: store)
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    var one = try RemoteBench.remote(desk, cloud)
    let other = try RemoteBench.remote(phone, cloud, device: "phone")
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    for remote in [one, other] { try await remote.sync() }
    let backup = store.backup()
    // The commit is sent, and no page has told of it.
    try desk.commit("INSERT INTO people(id) VALUES('b')")
    try await one.push()
    store.restore(backup, isClosed: true)
    // The other one sends as much as was lost.
    try phone.commit("INSERT INTO people(id) VALUES('c')")
    try await other.sync()
    if restarts {
      one.stop()
      one = try RemoteBench.remote(desk, cloud)
    }
    for remote in [one, other, one] { try await remote.sync() }
    try HistoryBench.expectEqual([desk, phone])
    #expect(try phone.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'", "'c'"])
    #expect(try desk.repository.status().unpushedCount == 0)
    let fresh = try HistoryBench(replica: "fresh")
    try await RemoteBench.remote(fresh, cloud, device: "fresh").sync()
    try HistoryBench.expectEqual([desk, fresh])
  }
}
