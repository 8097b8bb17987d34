import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// The merge proper, held against the model on random histories.
@Suite
struct LockStepTests {
  private func run(_ seeds: Range<UInt64>, _ options: ModelHistoryOptions) -> LockStepCount {
    var count = LockStepCount()
    for seed in seeds {
      let history = LockStepHistory(seed: seed, options)
      history.run()
      let isSettled = history.settle(rounds: 5) != nil
      if !isSettled || !history.differences.isEmpty {
        count.different.append("seed \(seed): \(history.differences.first ?? "not settled")")
      }
      count.conflicts += history.conflictCount
      count.mergesWithTwoBases += history.model.mergesWithTwoBases
    }
    return count
  }

  /// The seeds of each test.
  private static let few = 0..<UInt64(SuiteSize.count(10, long: 3_000))

  private struct LockStepCount {
    var different: [String] = []
    var conflicts = 0
    var mergesWithTwoBases = 0
  }

  @Test
  func rowsWithOneWriterAreMergedAsTheModelDoes() {
    let count = run(Self.few, ModelHistoryOptions(replicas: 4, steps: 50, rows: 8, valueCount: 2))
    #expect(count.different.prefix(3) == [])
    #expect(count.mergesWithTwoBases > Self.few.count / 4)
  }

  @Test
  func conflictsAreMergedAsTheModelDoes() {
    var options = ModelHistoryOptions(replicas: 4, steps: 50, hasOneWriter: false)
    options.columns = [.newest, .maximum, .counter]
    let count = run(Self.few, options)
    #expect(count.different.prefix(3) == [])
    #expect(count.conflicts > Self.few.count)
  }

  @Test
  func unlikePoliciesAreMergedAsTheModelDoes() {
    let count = run(Self.few, .unlike(4))
    #expect(count.different.prefix(3) == [])
    #expect(count.conflicts > Self.few.count)
  }

  /// Each mistake shows within 500 histories, or the comparison would tell nothing.
  ///
  /// The base of the first and the next alone goes wrong too rarely for that: the tests of the model show it.
  @Test(arguments: ModelFlaw.allCases.filter { $0 != .firstAndNext })
  func aMistakeShows(flaw: ModelFlaw) {
    var options = ModelHistoryOptions(replicas: 5, steps: 60, rows: 10)
    // Only where nothing is contested do all that descend from both bases agree about them.
    options.hasOneWriter = flaw == .oneOfSeveral
    options.flaw = flaw
    options.valueCount = 2
    let first = (UInt64(0)..<500)
      .first { seed in
        let history = LockStepHistory(seed: seed, options)
        history.run()
        return !history.differences.isEmpty
      }
    #expect(first != nil)
  }
}
