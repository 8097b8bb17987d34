import CloudSyncCore
import CloudSyncSimulator

/// What is wrong with a seed, for scripts.
struct ViolationReport: Encodable {
  private let rule: String
  private let reason: String
  private let seconds: Double

  init(_ violation: SimulationOutcome.Violation) {
    rule = violation.rule
    reason = violation.text
    seconds = violation.elapsed.inSeconds
  }
}

/// What one seed has come to, for scripts.
struct SingleReport: Encodable {
  private let seed: UInt64
  private let isPassed: Bool
  private let events: Int
  private let requests: Int
  private let simulatedSeconds: Double
  private let faults: [String: Int]
  private let violation: ViolationReport?
  /// The folder of the event logs, where they were written.
  private let logs: String?

  init(_ outcome: SimulationOutcome, logs: String?) {
    seed = outcome.options.seed
    isPassed = outcome.violation == nil
    events = outcome.eventCount
    requests = outcome.requestCount
    simulatedSeconds = outcome.elapsed.inSeconds
    faults = outcome.coverage.faults
    violation = outcome.violation.map { ViolationReport($0) }
    self.logs = logs
  }
}

/// What a campaign has come to, for scripts.
struct CampaignReport: Encodable {
  /// A seed that has failed.
  struct Failure: Encodable {
    var seed: UInt64
    var violation: ViolationReport
    /// The command that repeats it.
    var command: String
    /// The command of the smallest simulation found that breaks the same rule.
    var smallest: String?
    /// The folder of its event logs.
    var logs: String?
  }

  private let firstSeed: UInt64
  private let seeds: UInt64
  private let failed: UInt64
  private let isStopped: Bool
  private let seconds: Double
  private let events: Int
  private let requests: Int
  private let simulatedSeconds: Double
  private let faults: [String: Int]
  /// How many combinations of work, response and fault were tried.
  private let combinations: Int
  /// The first of those that have failed.
  private let failures: [Failure]
  /// What so many seeds should have tried, and did not.
  let neverTried: [String]
  /// How the first seed differs in another process; nil if it does not.
  private let processDifference: String?
  /// Whether every rule held in every seed, and all was tried.
  let isPassed: Bool

  /// The report of a campaign.
  ///
  /// - Parameters:
  ///   - tally: What was counted.
  ///   - first: The first seed.
  ///   - seconds: How long it took.
  ///   - failures: The first seeds that have failed.
  ///   - missing: What should have been tried.
  ///   - difference: How another process differs.
  init(
    _ tally: CampaignTally,
    from first: UInt64,
    seconds: Double,
    failures: [Failure],
    missing: [String],
    difference: String?
  ) {
    firstSeed = first
    seeds = tally.done
    failed = UInt64(tally.failed)
    isStopped = Interrupt.hasCome
    self.seconds = seconds
    events = tally.events
    requests = tally.requests
    simulatedSeconds = tally.simulated.inSeconds
    faults = tally.coverage.faults
    combinations = tally.coverage.cells.count
    self.failures = failures
    neverTried = missing
    processDifference = difference
    isPassed = tally.failed == 0 && missing.isEmpty && difference == nil
  }
}

extension FaultCoverage {
  /// How often each fault was tried, by its name.
  fileprivate var faults: [String: Int] {
    let tried = FaultPoint.allCases.filter { self[$0] > 0 }
    return Dictionary(uniqueKeysWithValues: tried.map { ($0.rawValue, self[$0]) })
  }

  /// The same in a line; nil if nothing was tried.
  var faultLine: String? {
    let tried = FaultPoint.allCases.filter { self[$0] > 0 }
    if tried.isEmpty { return nil }
    return "faults: " + tried.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
  }
}
