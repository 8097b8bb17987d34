import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

/// Changes of commits that somebody has removed from the file, and no command of the history.
@Suite struct LostChangesTests {
  @Test func theyAreFoundByVerifyingAndNotLeftOutOfAPush() async throws {
    let (bench, cloud) = (try HistoryBench(), LocalCloud())
    let remote = try RemoteBench.remote(bench, cloud)
    try bench.commit("INSERT INTO people(id) VALUES('a')")
    try await remote.sync()
    let lost = try bench.commit("INSERT INTO people(id) VALUES('b')")
    try bench.commit("INSERT INTO people(id) VALUES('c')")
    try bench.database.execute(
      "UPDATE changesets_log SET body = NULL WHERE seq = (SELECT max(seq) - 1 FROM changesets_log)"
    )
    let problems = try bench.repository.verify().problems
    #expect(problems.count == 1 && problems[0].contains(lost?.id.short ?? "?"))
    let error = await #expect(throws: ChangesetError.self) { try await remote.push() }
    #expect(error?.code == .damaged)
    #expect("\(error.map { "\($0)" } ?? "")".contains(lost?.id.short ?? "?"))
  }

  @Test func whatTheHistoryHasRemovedItselfIsNoDamage() async throws {
    let (bench, cloud) = (try HistoryBench(), LocalCloud())
    let remote = try RemoteBench.remote(bench, cloud)
    for name in ["a", "b", "c"] { try bench.commit("INSERT INTO people(id) VALUES('\(name)')") }
    try await remote.sync()
    #expect(try bench.repository.gc(depth: 1).commits == 1)
    try bench.commit("INSERT INTO people(id) VALUES('d')")
    #expect(try bench.repository.verify().problems == [])
    try await remote.push()
  }

  /// Of each: what is done to the file, and what verifying says of it.
  private static let damages = [
    (
      "UPDATE changesets_heads SET seq = 77 WHERE is_head = 0",
      "branch aside ends at commit number 77, which is not there"
    ),
    ("DELETE FROM changesets_names WHERE name = 'aside'", "the name of branch number"),
    (
      "UPDATE changesets_schemas SET description = x'00'",
      "schema number 1 is not what its identifier says"
    ),
  ]

  @Test(arguments: damages)
  func whatIsNamedByNumberIsLookedFor(damage: String, problem: String) throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people(id) VALUES('a')")
    try bench.repository.createBranch("aside")
    #expect(try bench.repository.verify().problems == [])
    try bench.database.execute(damage)
    #expect(try bench.repository.verify().problems.contains { $0.contains(problem) })
  }
}
