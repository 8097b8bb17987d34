import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Long times without a network: requests go by packs, not by commits.
@Suite struct ManyCommitsTests {
  /// As the specification has them in the long run.
  private static let commitCount = SuiteSize.count(800, long: 10_000)

  @Test func commitsThatWereMadeOfflineTravelInPacks() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people(id, score) VALUES('a', 0)")
    for number in 1..<Self.commitCount {
      try desk.commit("UPDATE people SET score = \(number)")
    }
    let requests = Locked(0)
    let handler = ChangingHandler(RemoteBench.handler(cloud, device: "desk"))
    handler.beforeModify.withLock { $0 = { _ in requests.withLock { $0 += 1 } } }
    let one = try ChangesetRemote(
      desk.repository,
      operationHandler: handler,
      zoneID: RemoteBench.zone
    )
    #expect(try await one.push().count == Self.commitCount)
    #expect(requests.withLock { $0 } == Self.commitCount / 400)
    #expect(try RemoteBench.packs(cloud).count == Self.commitCount / 400)
    let phone = try HistoryBench(replica: "phone")
    let pages = Locked(0)
    let other = try ChangesetRemote(
      phone.repository,
      operationHandler: ChangingHandler(RemoteBench.handler(cloud, device: "phone")) { _, page in
        pages.withLock { $0 += 1 }
        return page
      },
      zoneID: RemoteBench.zone
    )
    #expect(try await other.fetch().count == Self.commitCount)
    #expect(pages.withLock { $0 } <= 2)
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk, phone])
    // Nothing is left to send on either side.
    #expect(try await one.push().isEmpty)
    #expect(try await other.push().isEmpty)
  }

  @Test func packsOfManyReplicasComeInFewPages() async throws {
    let cloud = LocalCloud()
    let count = SuiteSize.count(60, long: 300)
    for number in 0..<count {
      let bench = try HistoryBench(replica: "r\(number)")
      try bench.commit("INSERT INTO people(id, score) VALUES('p\(number)', \(number))")
      try await RemoteBench.remote(bench, cloud, device: "d\(number)").push()
    }
    let phone = try HistoryBench(replica: "phone")
    let pages = Locked(0)
    let other = try ChangesetRemote(
      phone.repository,
      operationHandler: ChangingHandler(RemoteBench.handler(cloud, device: "phone")) { _, page in
        pages.withLock { $0 += 1 }
        return page
      },
      zoneID: RemoteBench.zone
    )
    let summary = try await other.sync()
    #expect(summary.received == count)
    #expect(summary.merges == count - 1)
    #expect(pages.withLock { $0 } <= 3)
    #expect(try phone.rows("SELECT count(*) FROM people") == ["\(count)"])
    #expect(try phone.repository.verify().problems == [])
  }
}
