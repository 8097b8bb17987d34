import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Commits that come to a squashed history without what they go on from, or from an app that is older than it.
@Suite struct LatePackTests {
  /// A desk that has squashed its history, and a phone with many commits that go on from before.
  private static func behind() async throws -> (desk: SquashBench, phone: SquashBench) {
    let (desk, phone) = try await SquashBench.pair()
    // So many that it cannot be told by their number whether they come after the squash.
    for number in 1...12 {
      try phone.bench.commit("UPDATE people SET name = 'Late \(number)' WHERE id = 'p1'")
    }
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try await desk.remote.squash(depth: 1)
    return (desk, phone)
  }

  private static func migrate(_ replica: SquashBench) throws {
    try ChangesetRepository.migrate(replica.bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0)
        .execute("ALTER TABLE people ADD COLUMN height DEFAULT 170")
    }
  }

  private static func send(last count: Int, of replica: SquashBench) async throws {
    let pack = try #require(try replica.repository.packOfLast(count))
    try await RemoteBench.write(pack.bytes, as: pack.name, replica.cloud)
  }

  @Test func nobodyWaitsForWhatNobodySends() async throws {
    let (desk, phone) = try await Self.behind()
    // The pack with the last commit was on its way when the zone was lost, and with it the others; the phone has heard
    // of the squash since, and sends none again.
    try await Self.send(last: 1, of: phone)
    try await desk.remote.sync()
    let (copy, _) = try await desk.clone()
    for repository in [desk.repository, copy] {
      let status = try repository.status()
      #expect(status.waitingCount == 0)
      #expect(status.refused.count == 1)
    }
    try await desk.remote.sync()
    #expect(try desk.repository.status().refused.count == 1)
    #expect(try desk.repository.status().waitingCount == 0)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Late 12'"])
    try await desk.expectClone()
  }

  @Test func whatCountedForNothingIsTakenWhenTheRestComes() async throws {
    let (desk, phone) = try await Self.behind()
    let tablet = try SquashBench(desk.cloud, "tablet")
    try await tablet.remote.sync()
    try tablet.bench.commit("UPDATE people SET note = 'one' WHERE id = 'p2'")
    try tablet.bench.commit("UPDATE people SET note = 'two' WHERE id = 'p3'")
    try await Self.send(last: 1, of: tablet)
    try await desk.remote.sync()
    #expect(try desk.repository.status().refused.count == 1)
    #expect(try desk.rows("SELECT count(*) FROM people WHERE note IN ('one', 'two')") == ["0"])
    try await tablet.remote.sync()
    #expect(try await desk.remote.sync().received == 2)
    let status = try desk.repository.status()
    #expect(status.refused == [] && status.waitingCount == 0)
    #expect(try desk.rows("SELECT count(*) FROM people WHERE note IN ('one', 'two')") == ["2"])
    try HistoryBench.expectEqual([desk.bench, tablet.bench])
    withExtendedLifetime(phone) {}
  }

  @Test func whoLooksAtACommitFromBeforeComesBackWithItsMigration() async throws {
    let (desk, phone) = try await SquashBench.pair()
    try phone.bench.commit("UPDATE people SET name = 'Phone' WHERE id = 'p1'")
    try phone.repository.checkout("HEAD~3")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try Self.migrate(desk)
    try await desk.fill(6...12)
    try await desk.remote.squash(depth: 0)

    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    // What was committed here is there to go back to; what the others have waits for the update.
    #expect(await SquashBench.code { try Self.migrate(phone) } == .detached)
    try phone.repository.switchBranch("main")
    #expect(try phone.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Phone'"])
    try Self.migrate(phone)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(
      try desk.rows("SELECT name, height FROM people WHERE id = 'p1'") == ["'Phone', 170"]
    )
  }

  @Test func anOlderAppPutsNothingOnAHistoryThatBeginsWithANewerOne() async throws {
    let (desk, phone) = try await SquashBench.pair()
    try phone.bench.commit("UPDATE people SET name = 'Phone' WHERE id = 'p1'")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try Self.migrate(desk)
    try await desk.fill(6...12)
    try desk.bench.commit("UPDATE people SET height = 180 WHERE id = 'p1'")
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 0)

    // The phone's app lacks a column of the commit that it would go on from.
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    let before = try phone.rows("SELECT hex(id) FROM changesets_log ORDER BY seq")
    #expect(await SquashBench.code { try await phone.remote.rebase() } == .needsUpgrade)
    #expect(try phone.rows("SELECT hex(id) FROM changesets_log ORDER BY seq") == before)
    #expect(try phone.repository.verify().problems == [])
    try Self.migrate(phone)
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(
      try desk.rows("SELECT name, height FROM people WHERE id = 'p1'") == ["'Phone', 180"]
    )
    try await desk.expectClone()
  }
}
