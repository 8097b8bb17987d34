import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

/// Branches of a history that is squashed.
@Suite struct SquashedBranchTests {
  private static func names(_ bench: SquashBench) throws -> [String] {
    try bench.repository.branches().map(\.name)
  }

  /// A branch that was merged before the commit that the history begins with.
  private static func merged() async throws -> SquashBench {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...4)
    try desk.repository.createBranch("idea")
    try desk.repository.switchBranch("idea")
    try desk.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p1'")
    try desk.repository.switchBranch("main")
    try desk.repository.merge("idea")
    try desk.repository.pull()
    try await desk.fill(5...9)
    return desk
  }

  @Test func oneThatEndsBeforeItGoesOnFromThere() async throws {
    let desk = try await Self.merged()
    let beginning = try #require(try await desk.remote.squash(depth: 1).beginning)
    let phone = try SquashBench(desk.cloud, "phone")
    try await phone.remote.sync()
    #expect(try Self.names(desk) == ["idea", "main"])
    #expect(try Self.names(phone) == ["main"])
    #expect(try desk.repository.branches().first?.heads == [beginning.id])

    // What is done there reaches everybody.
    try desk.repository.switchBranch("idea")
    try desk.bench.commit("UPDATE people SET note = 'later' WHERE id = 'p1'")
    try await desk.remote.sync()
    try await phone.remote.sync()
    let idea = try #require(try phone.repository.branches().first)
    #expect(idea.name == "idea")
    #expect(idea.heads == [try #require(try desk.repository.head().id)])
    try phone.repository.switchBranch("idea")
    #expect(try phone.rows("SELECT name, note FROM people WHERE id = 'p1'") == ["'Idea', 'later'"])
  }

  @Test func whoBeginsOnItGoesOnFromThere() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...4)
    try desk.repository.createBranch("idea")
    try desk.repository.switchBranch("idea")
    try await desk.fill(5...9)
    let beginning = try #require(try await desk.remote.squash(depth: 1).beginning)
    #expect(beginning.branch == "idea")
    // All that the main branch had is before the beginning; a new copy is on it, with tables of its app.
    let phone = try SquashBench(desk.cloud, "phone")
    try await phone.remote.sync()
    #expect(try phone.repository.head().branch == "main")
    #expect(try phone.repository.head().id == beginning.id)
    #expect(try phone.rows("SELECT count(*) FROM people") == ["8"])
    #expect(try phone.repository.branches().map(\.heads) == desk.repository.branches().map(\.heads))
    try phone.bench.commit("UPDATE people SET note = 'phone' WHERE id = 'p1'")
    try await phone.remote.sync()
    try await desk.remote.sync()
    try desk.repository.switchBranch("main")
    try HistoryBench.expectEqual([desk.bench, phone.bench])
    try await desk.expectClone()
  }

  @Test func whoIsOnItGoesAlong() async throws {
    let desk = try await Self.merged()
    try desk.repository.switchBranch("idea")
    let phone = try SquashBench(desk.cloud, "phone")
    try await phone.remote.sync()
    try await desk.remote.sync()
    try await phone.remote.squash(depth: 1)
    try await desk.remote.sync()
    try await phone.remote.squash(depth: 1)
    try await desk.remote.sync()
    try desk.bench.commit("UPDATE people SET note = 'later' WHERE id = 'p1'")
    try await desk.remote.sync()
    try await phone.remote.sync()
    try phone.repository.switchBranch("idea")
    #expect(try phone.rows("SELECT name, note FROM people WHERE id = 'p1'") == ["'Idea', 'later'"])
    try HistoryBench.expectEqual([desk.bench, phone.bench])
  }

  @Test func oneThatWasBegunBehindItBeginsWhereItsCommitsHaveCome() async throws {
    let (desk, phone) = try await SquashBench.pair()
    try phone.bench.commit("UPDATE people SET name = 'Phone' WHERE id = 'p2'")
    try phone.repository.createBranch("idea")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try await desk.remote.squash(depth: 1)
    phone.bench.pass(seconds: 101 * SquashBench.day)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    // Of a branch without commits there is nothing to put anywhere.
    #expect(try await phone.remote.rebase().count == 1)
    try await SquashBench.settle([desk, phone])
    #expect(try Self.names(phone) == ["idea", "main"] && Self.names(desk) == ["main"])
    try phone.repository.switchBranch("idea")
    #expect(try phone.rows("SELECT name FROM people WHERE id = 'p2'") == ["'Phone'"])
    try phone.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p2'")
    try await phone.remote.sync()
    #expect(try await desk.remote.sync().received == 1)
    #expect(try Self.names(desk) == ["idea", "main"])
  }
}
