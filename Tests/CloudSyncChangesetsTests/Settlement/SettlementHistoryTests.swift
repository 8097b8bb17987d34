import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Random histories of tables with every constraint: they end alike, hold, and lose nothing silently.
@Suite
struct SettlementHistoryTests {
  private static let count = SuiteSize.count(8, long: 1_000)

  @Test
  func tablesWithEveryConstraintEndAlikeAndHold() throws {
    var kinds: [MergeConflict.Kind: Int] = [:]
    var merges = 0
    for seed in UInt64(0)..<UInt64(Self.count) {
      let history = try SettlementHistory(seed: seed, replicas: 3)
      try history.run(steps: 60)
      let rounds = try history.settle()
      #expect(rounds != nil, "seed \(seed)")
      #expect(history.bench.problems.prefix(2) == [], "seed \(seed)")
      kinds.merge(history.conflictCounts, uniquingKeysWith: +)
      merges += history.mergeCount
    }
    #expect(merges > Self.count * 3)
    for kind in [MergeConflict.Kind.cell, .deletion, .insertion, .unique, .foreignKey, .check] {
      #expect(kinds[kind, default: 0] > 0, "\(kind)")
    }
  }
}
