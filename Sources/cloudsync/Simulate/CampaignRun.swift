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

  private var seconds: Double { (clock.now - start).inSeconds }

  private var progress: String {
    let (done, failed) = tally.withLock { ($0.done, $0.failed) }
    let rate = Double(done) / max(0.001, seconds)
    var text = Self.seeds(done)
    var left: Double?
    if let count = request.count {
      let filled = Int(20 * done / count)
      let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: 20 - filled)
      text = "[\(bar)] \(done) of \(Self.seeds(count))"
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

  private static func seeds(_ count: UInt64) -> String { Phrase.count(Int(count), "seed") }

  private func conclude(console: Console) throws {
    let words = request.isJSON ? console.quiet : console
    let tally = tally.withLock { $0 }
    let elapsed = seconds
    show(tally: tally, elapsed: elapsed, console: words)
    if Interrupt.hasCome { words.line("stopped before the end") }
    showCoverage(tally: tally, console: words)
    let failures = try tally.failures.enumerated()
      .compactMap { place, outcome in
        try failure(of: outcome, isShrunk: place < Self.shrunkFailures, console: words)
      }
    if tally.failed > tally.failures.count {
      words.line("and \(tally.failed - tally.failures.count) more")
    }
    let report = CampaignReport(
      tally,
      from: request.options.seed,
      seconds: elapsed,
      failures: failures,
      missing: missing(tally: tally),
      difference: try checkProcesses(tally: tally, console: words)
    )
    show(verdict: report, tally: tally, console: words)
    if request.isJSON { console.line(try JSONText.block(for: report)) }
    if !report.isPassed { throw ToolError.negative }
  }

  private func show(tally: CampaignTally, elapsed: Double, console: Console) {
    let elapsed = max(0.001, elapsed)
    let rate = Int64(Double(tally.done) / elapsed)
    let speed = Int64(tally.simulated.inSeconds / elapsed)
    console.line(
      "\(Self.seeds(tally.done)) from \(request.options.seed) in \(Int64(elapsed.rounded())) s"
        + "\(rate > 0 ? " (\(rate) a second)" : ""):"
        + " \(Phrase.count(tally.events, "event")), \(Phrase.count(tally.requests, "request")),"
        + " \(tally.simulated.inWords) of simulated time"
        + " (\(speed) times as fast as real time)"
    )
  }

  private func show(verdict report: CampaignReport, tally: CampaignTally, console: Console) {
    if tally.failed > 0 {
      console.line(
        console.styled("\(tally.failed) of \(Self.seeds(tally.done)) failed", as: .bad)
      )
    } else if !report.neverTried.isEmpty {
      let list = report.neverTried.joined(separator: "; ")
      console.line(console.styled("never tried: \(list)", as: .bad))
    } else if report.isPassed {
      console.line("\(console.styled("passed", as: .good)): every rule held in every seed")
    }
  }

  /// Runs the first seed in another process; returns what differs, nil if nothing does.
  private func checkProcesses(tally: CampaignTally, console: Console) throws -> String? {
    guard tally.failed == 0, tally.done > 0 else { return nil }
    let (isTried, text) = try ProcessCheck().difference(options: request.options)
    if let text {
      console.line(console.styled("seed \(request.options.seed): \(text)", as: .bad))
      console.line("  again:    \(request.options.command)")
    } else if isTried {
      console.line("seed \(request.options.seed) in another process: the same, byte for byte")
    }
    return text
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
    if let line = tally.coverage.faultLine { console.line(line) }
    let expected = FaultCoverage.expected(for: request.options.faults)
    let met = expected.count { tally.coverage[$0] > 0 }
    console.line(
      "coverage: \(tally.coverage.cells.count) combinations of work, response and fault,"
        + " \(met) of the \(expected.count) expected"
    )
  }

  /// Tells of a seed that has failed, and looks for the smallest simulation that fails the same way.
  private func failure(
    of outcome: SimulationOutcome,
    isShrunk: Bool,
    console: Console
  ) throws -> CampaignReport.Failure? {
    guard let violation = outcome.violation else { return nil }
    let seed = outcome.options.seed
    var failure = CampaignReport.Failure(
      seed: seed,
      violation: ViolationReport(violation),
      command: outcome.options.command
    )
    console.line("seed \(seed): \(console.styled("\(violation)", as: .bad))")
    console.line("  again:    \(failure.command)")
    guard isShrunk else { return failure }
    console.progress("making seed \(seed) smaller")
    let least = outcome.options.shrunk(violation: violation)
    console.endProgress()
    let logs = try folder.write(least.runTwice())
    failure.smallest = least.command
    failure.logs = logs
    console.line("  smallest: \(least.command)")
    console.line("  logs:     \(logs)")
    return failure
  }
}
