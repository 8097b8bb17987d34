import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Replicas whose apps have settled merges otherwise: a merge is data, so all end alike.
@Suite struct UnlikePoliciesTests {
  /// One takes the newest value, one the largest, one is asked and adds both.
  private static func benches() throws -> [(bench: HistoryBench, repository: ChangesetRepository)] {
    let maximum = ChangesetOptions.Table(merging: TableMergePolicy(columns: ["score": .maximum]))
    return try (0..<3)
      .map { number in
        let bench = try HistoryBench(replica: "r\(number)")
        var options = HistoryBench.options(replica: "r\(number)")
        if number == 1 { options.tables["people"] = maximum }
        if number == 2 {
          options.handler = { conflict in
            guard case .int64(let one)? = conflict.ours?["score"],
              case .int64(let other)? = conflict.theirs?["score"]
            else { return .automatic }
            return .row(["score": .int64((one + other) % 1_000)])
          }
        }
        return (bench, try ChangesetRepository(bench.database, options: options))
      }
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(4, long: 200)))
  func atRestAllAreEqualWithinFiveRounds(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let benches = try Self.benches()
    try benches[0].bench.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 1), ('c', 1)")
    for (bench, repository) in benches.dropFirst() {
      try bench.take(from: benches[0].bench)
      try repository.pull()
    }
    for _ in 0..<4 {
      for (bench, repository) in benches {
        bench.pass(seconds: Int64(random.below(4)))
        for name in ["a", "b", "c"] where random.below(2) == 0 {
          try bench.database.execute(
            "UPDATE people SET score = \(random.below(500)) WHERE id = '\(name)'"
          )
        }
        try repository.commit()
      }
      // Now and then two of them merge meanwhile, each in its way.
      for (bench, repository) in benches where random.below(2) == 0 {
        try bench.take(from: benches[Int(random.below(3))].bench)
        try repository.mergeAll()
        try repository.pull()
      }
    }
    var rounds = 0
    while Set(try benches.map { try $0.repository.head().id }).count > 1 {
      rounds += 1
      guard rounds <= 5 else { break }
      for (bench, repository) in benches {
        for other in benches where other.bench !== bench { try bench.take(from: other.bench) }
        try repository.mergeAll()
        try repository.pull()
      }
    }
    #expect(rounds <= 5)
    try HistoryBench.expectEqual(benches.map(\.bench))
  }
}
