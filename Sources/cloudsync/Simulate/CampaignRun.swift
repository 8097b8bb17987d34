import CloudSyncCore
import CloudSyncSimulator
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Many simulations, several at a time.
struct CampaignRun {
  private let request: SimulateCommand.Request
  private let folder: LogFolder
  private let tally: Locked<CampaignTally>
  private let clock = ContinuousClock()
  private let start = ContinuousClock.now

  /// So many seeds must have tried every fault.
  private static let seedsForCoverage: UInt64 = 1_000
  /// So many failures are made smaller.
  private static let shrunkFailures = 3

  init(_ request: SimulateCommand.Request, logsTo folder: LogFolder) {
    self.request = request
    self.folder = folder
    tally = Locked(CampaignTally(from: request.options.seed, count: request.count))
  }

  func run(console: Console) throws {
    Interrupt.begin()
    defer { Interrupt.end() }
    let workers = DispatchGroup()
    for _ in 0..<request.jobs {
      DispatchQueue.global()
        .async(group: workers) { [tally, request] in
          while let seed = tally.withLock({ $0.take() }) {
            let outcome = Self.run(seed: seed, base: request.options)
            tally.withLock { $0.add(outcome, isFirst: seed == request.options.seed) }
          }
        }
    }
    while workers.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
      let isTimeUp = request.minutes.map { seconds >= Double($0) * 60 } ?? false
      if isTimeUp || Interrupt.hasCome { tally.withLock { $0.isStopped = true } }
      console.progress(progress)
    }
    console.endProgress()
    try conclude(console: console)
  }

  /// Runs a seed, every 16th twice.
  private static func run(seed: UInt64, base: SimulationOptions) -> SimulationOutcome {
    var options = base
    options.seed = seed
    return seed % 16 == 0 ? options.runTwice() : options.run()
  }

  // MARK: Words

  private var seconds: Double {
    let (seconds, attoseconds) = (clock.now - start).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  private var progress: String {
    let (done, failed) = tally.withLock { ($0.done, $0.failed) }
    let rate = Double(done) / max(0.001, seconds)
    var text = "\(done) seeds"
    var left: Double?
    if let count = request.count {
      let filled = Int(20 * done / count)
      let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: 20 - filled)
      text = "[\(bar)] \(done) of \(count) seeds"
      if done > 0 { left = Double(count - done) / rate }
    }
    if let minutes = request.minutes {
      let rest = max(0, Double(minutes) * 60 - seconds)
      left = min(left ?? rest, rest)
    }
    text += ", \(Int64(rate)) a second, \(failed) failed"
    if let left { text += ", \(Int64(left.rounded(.up))) s left" }
    return text
  }

  private func conclude(console: Console) throws {
    let tally = tally.withLock { $0 }
    let elapsed = seconds
    let simulated = Double(tally.simulated.components.seconds)
    console.line(
      "\(tally.done) seeds from \(request.options.seed) in \(Int64(elapsed.rounded())) s"
        + " (\(Int64(Double(tally.done) / max(0.001, elapsed))) a second):"
        + " \(tally.events) events, \(tally.requests) requests,"
        + " \(Int64(simulated / 86_400)) days of simulated time"
        + " (\(Int64(simulated / max(0.001, elapsed))) times as fast as real time)"
    )
    if Interrupt.hasCome { console.line("stopped before the end") }
    showCoverage(tally: tally, console: console)
    for (place, outcome) in tally.failures.enumerated() {
      try show(outcome: outcome, isShrunk: place < Self.shrunkFailures, console: console)
    }
    if tally.failed > tally.failures.count {
      console.line("and \(tally.failed - tally.failures.count) more")
    }
    let missing = missing(tally: tally)
    let isSameElsewhere = try checkProcesses(tally: tally, console: console)
    if tally.failed > 0 {
      console.line(console.styled("\(tally.failed) of \(tally.done) seeds failed", as: .bad))
      throw ToolError.negative
    }
    guard missing.isEmpty else {
      console.line(console.styled("never tried: \(missing.joined(separator: "; "))", as: .bad))
      throw ToolError.negative
    }
    guard isSameElsewhere else { throw ToolError.negative }
    console.line("\(console.styled("passed", as: .good)): every rule held in every seed")
  }

  /// Runs the first seed in another process; returns whether nothing differs.
  private func checkProcesses(tally: CampaignTally, console: Console) throws -> Bool {
    guard tally.failed == 0, tally.done > 0 else { return true }
    let (isTried, text) = try ProcessCheck().difference(options: request.options)
    if let text {
      console.line(console.styled("seed \(request.options.seed): \(text)", as: .bad))
      console.line("  again:    \(request.options.command)")
    } else if isTried {
      console.line("seed \(request.options.seed) in another process: the same, byte for byte")
    }
    return text == nil
  }

  private var kind: SimulatedKind { SimulatedKind(request.options) }

  /// What so many seeds should have tried.
  private func missing(tally: CampaignTally) -> [String] {
    guard tally.done >= Self.seedsForCoverage, request.options.devices > 1,
      request.options.edits >= kind.usualEdits
    else { return [] }
    return tally.coverage.missing(for: request.options.faults, hasStorage: kind.hasStorage)
  }

  private func showCoverage(tally: CampaignTally, console: Console) {
    let faults = FaultPoint.allCases.filter { tally.coverage[$0] > 0 }
      .map { "\($0.rawValue) \(tally.coverage[$0])" }
    if !faults.isEmpty { console.line("faults: \(faults.joined(separator: ", "))") }
    let expected = FaultCoverage.expected(for: request.options.faults)
    let met = expected.count { tally.coverage[$0] > 0 }
    console.line(
      "coverage: \(tally.coverage.cells.count) combinations of work, answer and fault,"
        + " \(met) of the \(expected.count) expected"
    )
  }

  private func show(outcome: SimulationOutcome, isShrunk: Bool, console: Console) throws {
    guard let violation = outcome.violation else { return }
    console.line("seed \(outcome.options.seed): \(console.styled("\(violation)", as: .bad))")
    console.line("  again:    \(outcome.options.command)")
    guard isShrunk else { return }
    console.progress("making seed \(outcome.options.seed) smaller")
    let least = outcome.options.shrunk(violation: violation)
    console.endProgress()
    console.line("  smallest: \(least.command)")
    let logged = least.runTwice()
    console.line("  logs:     \(try folder.write(logged))")
  }
}
