import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A history may be long: what is done at its end costs what is changed, not what was committed before.
///
/// What looks for commits by their identifiers goes through those that have no index yet: they are no part of this.
@Suite struct ProportionalCommitTests {
  enum Call: CaseIterable {
    case commit, discard, switchBranch, log
  }

  private static func steps(_ call: Call, after count: Int) throws -> Int {
    let bench = try HistoryBench()
    for number in 0..<count {
      try bench.commit("INSERT INTO people(id, score) VALUES('p\(number)', \(number))")
    }
    let repository = bench.repository
    try repository.createBranch("side")
    try bench.commit("UPDATE people SET score = -1 WHERE id = 'p0'")
    try bench.database.execute("UPDATE people SET score = -2 WHERE id = 'p0'")
    if call != .commit, call != .discard { try repository.commit() }
    return try StatementSteps.count(of: { try bench.database.write($0) }) {
      switch call {
      case .commit: try repository.commit()
      case .discard: try repository.discard()
      case .switchBranch: try repository.switchBranch("side")
      case .log: _ = try repository.log(LogQuery(count: 2))
      }
    }
  }

  /// What a rebase costs of commits that two replicas have made in turns: each is a part of its own.
  private static func rebaseSteps(_ count: Int) async throws -> Int {
    let (desk, phone) = try await SquashBench.pair()
    for number in 0..<count {
      let maker = HistoryBench.options(replica: number % 2 == 0 ? "one" : "other")
      try phone.bench.database.execute(
        "INSERT INTO people(id, score) VALUES('q\(number)', \(number))"
      )
      try ChangesetRepository(phone.bench.database, options: maker).commit()
    }
    for bench in [desk, phone] { bench.bench.pass(seconds: 100 * SquashBench.day) }
    try await desk.fill(6...8)
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 1)
    try await phone.remote.push()
    try await desk.remote.sync()
    let steps = try StatementSteps.count(of: { try desk.bench.database.write($0) }) {
      try desk.repository.rebaseOthers()
    }
    #expect(try desk.rows("SELECT count(*) FROM people") == ["\(8 + count)"])
    #expect(try desk.repository.log(LogQuery(count: count)).allSatisfy { $0.originals.count == 1 })
    return steps
  }

  @Test func aRebaseOfManyPartsCostsSoMuchForEach() async throws {
    let (few, many) = (try await Self.rebaseSteps(10), try await Self.rebaseSteps(40))
    #expect(many < 6 * few, "\(few) tens of steps for 10 parts, \(many) for 40")
  }

  @Test(arguments: Call.allCases)
  func costsNoMoreAfterManyCommits(call: Call) throws {
    let (few, many) = (try Self.steps(call, after: 20), try Self.steps(call, after: 200))
    #expect(many < 2 * few + 20, "\(few) tens of steps after 20 commits, \(many) after 200")
  }
}
