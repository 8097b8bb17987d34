import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// The merge of the specification as a model: what it promises, and that rules which look alike break it.
@Suite
struct MergeModelTests {
  private struct Outcome {
    var lost: [UInt64] = []
    var unsettled: [UInt64] = []
    var rounds = 0
    var mergesWithTwoBases = 0
    var mergesWithMoreBases = 0
  }

  private func run(
    _ seeds: Range<UInt64>,
    rounds: Int = 2,
    _ options: ModelHistoryOptions
  ) -> Outcome {
    var outcome = Outcome()
    for seed in seeds {
      let history = ModelHistory(seed: seed, options)
      history.run()
      if let rounds = history.settle(rounds: rounds) {
        outcome.rounds = max(outcome.rounds, rounds)
      } else {
        outcome.unsettled.append(seed)
      }
      if history.hasLost { outcome.lost.append(seed) }
      outcome.mergesWithTwoBases += history.model.mergesWithTwoBases
      outcome.mergesWithMoreBases += history.model.mergesWithMoreBases
    }
    return outcome
  }

  /// Whether edits are lost in any of the histories; none is looked at after the first.
  private func loses(_ seeds: Range<UInt64>, _ options: ModelHistoryOptions) -> Bool {
    seeds.contains { !run($0..<$0 + 1, options).lost.isEmpty }
  }

  private static let many = ModelHistoryOptions(replicas: 5, steps: 60, rows: 10, valueCount: 2)

  // MARK: One writer a row

  /// The long run has 3,500 histories.
  @Test(arguments: [(3, 30, 2_500), (5, 60, 800), (8, 90, 200)])
  func historiesInWhichEachRowHasOneWriterLoseNothing(replicas: Int, steps: Int, runs: Int) {
    let runs = SuiteSize.count(runs / 40, long: runs)
    var options = ModelHistoryOptions(replicas: replicas, steps: steps, rows: 2 * replicas)
    options.valueCount = 2
    let outcome = run(0..<UInt64(runs), options)
    #expect(outcome.lost == [])
    #expect(outcome.unsettled == [])
    #expect(outcome.mergesWithTwoBases > runs / 10)
  }

  @Test
  func withOneBaseOfSeveralEditsAreLost() {
    var options = Self.many
    #expect(run(0..<100, options).lost == [])
    options.flaw = .oneOfSeveral
    #expect(loses(0..<100, options))
  }

  @Test
  func withTheBaseOfTheFirstAndTheNextEditsAreLost() {
    var options = Self.many
    options.flaw = .firstAndNext
    #expect(loses(0..<400, options))
    options.flaw = nil
    let outcome = run(0..<UInt64(SuiteSize.count(15, long: 400)), options)
    #expect(outcome.lost == [])
    #expect(outcome.mergesWithMoreBases > 0)
  }

  // MARK: Conflicts

  @Test
  func conflictsEndWithEqualHeads() {
    var options = ModelHistoryOptions(replicas: 4, steps: 50, hasOneWriter: false)
    options.columns = [.newest, .maximum]
    let outcome = run(0..<UInt64(SuiteSize.count(12, long: 300)), options)
    #expect(outcome.unsettled == [])
    // One exchange after the last merges, and then silence.
    #expect(outcome.rounds <= 2)
  }

  @Test
  func countersCountEachAdditionOnce() {
    var options = ModelHistoryOptions(replicas: 4, steps: 50, rows: 2, hasOneWriter: false)
    options.columns = [.counter, .newest]
    options.deletes = false
    var mergesWithTwoBases = 0
    let seeds = SuiteSize.count(12, long: 300)
    for seed in 0..<UInt64(seeds) {
      let history = ModelHistory(seed: seed, options)
      history.run()
      #expect(history.settle(rounds: 2) != nil)
      let head = history.replicas[0].head
      for row in 0..<2 {
        #expect(head?.state[row]?[0].value == history.added[row][0], "seed \(seed)")
      }
      mergesWithTwoBases += history.model.mergesWithTwoBases
    }
    #expect(mergesWithTwoBases > seeds / 10)
  }

  // MARK: Unlike policies, and identifiers

  @Test(arguments: [2, 3, 4])
  func replicasWithUnlikePoliciesJoin(replicas: Int) {
    let outcome = run(0..<UInt64(SuiteSize.count(10, long: 500)), rounds: 5, .unlike(replicas))
    #expect(outcome.unsettled == [])
    #expect(outcome.rounds > 1)
  }

  @Test
  func withRandomIdentifiersOfMergesTheExchangeNeverEnds() {
    var options = ModelHistoryOptions(replicas: 3, steps: 30)
    let ends = run(0..<40, rounds: 3, options)
    #expect(ends.unsettled == [])
    options.hasRandomMergeIDs = true
    var endless = 0
    for seed in UInt64(0)..<40 {
      let history = ModelHistory(seed: seed, options)
      history.run()
      if history.settle(rounds: 3) != nil { continue }
      endless += 1
      // Each round makes as many merges as the one before, or more.
      let before = history.model.commits.count
      #expect(history.settle(rounds: 5) == nil)
      #expect(history.model.commits.count >= before + 15)
    }
    #expect(endless > 20)
  }
}

extension ModelHistoryOptions {
  /// Replicas of which no two settle conflicts alike.
  static func unlike(_ replicas: Int) -> ModelHistoryOptions {
    var options = ModelHistoryOptions(replicas: replicas, steps: 40, hasOneWriter: false)
    var handler = ModelPolicies.newest(columns: 2)
    handler.takesSmaller = true
    options.policies = [
      .newest(columns: 2),
      ModelPolicies(columns: [.maximum, .counter]),
      handler,
      ModelPolicies(columns: [.counter, .maximum], isDeletionStronger: true),
    ]
    return options
  }
}
