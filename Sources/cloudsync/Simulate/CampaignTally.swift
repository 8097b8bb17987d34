import CloudSyncSimulator

/// What a campaign has come to so far.
struct CampaignTally: Sendable {
  /// The next seed, and the one after the last.
  var next: UInt64
  let end: UInt64
  var isStopped = false
  var done: UInt64 = 0
  var events = 0
  var requests = 0
  var simulated = Duration.zero
  var coverage = FaultCoverage()
  var failures: [SimulationOutcome] = []
  var failed = 0
  /// The digest of the first seed.
  var firstDigest: UInt64?

  /// How many failures are kept.
  private static let keptFailures = 20

  init(from first: UInt64, count: UInt64?) {
    next = first
    end = count.map { first.addingReportingOverflow($0).partialValue } ?? .max
  }

  /// The next seed to run; nil when there is none.
  mutating func take() -> UInt64? {
    guard !isStopped, next < end else { return nil }
    defer { next += 1 }
    return next
  }

  mutating func add(_ outcome: SimulationOutcome, isFirst: Bool) {
    done += 1
    events += outcome.eventCount
    requests += outcome.requestCount
    simulated += outcome.elapsed
    coverage.add(outcome.coverage)
    if isFirst { firstDigest = outcome.digest }
    guard outcome.violation != nil else { return }
    failed += 1
    if failures.count < Self.keptFailures { failures.append(outcome) }
  }
}
