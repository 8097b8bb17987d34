import CloudSyncCore
import CloudSyncEventLog

extension Simulation {
  /// Runs it twice and compares every byte of the event logs, then runs each log again by itself.
  ///
  /// - Returns: What the first run has come to, or what the comparisons have shown.
  public func runTwice() -> SimulationOutcome {
    var logged = self
    logged.options.keepsLogs = true
    var outcome = logged.run()
    guard outcome.violation == nil else { return outcome }
    let again = logged.run()
    if let text = Self.difference(first: outcome, second: again) {
      outcome.fail(rule: "the same seed gives the same logs, byte for byte", text: text)
    } else {
      for log in outcome.logs {
        guard let text = Self.divergence(log: log) else { continue }
        outcome.fail(rule: "every log re-runs without divergence", text: text)
        break
      }
    }
    return outcome
  }

  private static func difference(first: SimulationOutcome, second: SimulationOutcome) -> String? {
    if let violation = second.violation { return "only the second run found: \(violation)" }
    if first.logs.count != second.logs.count {
      return "there are \(first.logs.count) logs, then \(second.logs.count)"
    }
    for (one, other) in zip(first.logs, second.logs) where one.data != other.data {
      let place = zip(one.data, other.data).prefix { $0 == $1 }.count
      return "the logs of process \(one.process) of device \(one.device) differ at byte \(place)"
    }
    return first.digest == second.digest ? nil : "the requests of the two runs differ"
  }

  private static func divergence(log: SimulationOutcome.Log) -> String? {
    let name = "device \(log.device), process \(log.process)"
    do throws(LogError) {
      let opened = try EventLog(bytes: [UInt8](log.data), name: name)
      if let mismatch = opened.mismatch { return "\(name): the fold differs at \(mismatch)" }
      let result = try Replay.rerun(opened, middleware: Device.middleware)
      return result.divergences.first.map { "\(name): \($0)" }
    } catch { return "\(name): \(error)" }
  }

  /// Makes a simulation that fails smaller: fewer devices, edits and faults, as long as the same
  /// rule is broken.
  ///
  /// - Parameters:
  ///   - violation: What went wrong.
  ///   - attempts: How many runs it may take.
  /// - Returns: The smallest options found; those of the simulation itself if nothing can be left out.
  public func shrunk(
    _ violation: SimulationOutcome.Violation,
    attempts: Int = 300
  ) -> SimulationOptions {
    var least = options
    least.records = options.recordCount
    var left = attempts
    func fails(smaller: SimulationOptions) -> Bool {
      guard left > 0 else { return false }
      left -= 1
      var simulation = self
      simulation.options = smaller
      let outcome = Self.needsLogs(violation: violation) ? simulation.runTwice() : simulation.run()
      return outcome.violation?.rule == violation.rule
    }
    /// Takes a change if the same rule is still broken.
    func accept(change: (inout SimulationOptions) -> Void) -> Bool {
      var smaller = least
      change(&smaller)
      guard smaller != least, fails(smaller: smaller) else { return false }
      least = smaller
      return true
    }
    /// Makes a number smaller by ever smaller steps.
    func shrink(number: WritableKeyPath<SimulationOptions, Int>, to lowest: Int) {
      var step = least[keyPath: number] / 2
      while step > 0 {
        let next = max(lowest, least[keyPath: number] - step)
        if !accept(change: { $0[keyPath: number] = next }) { step /= 2 }
      }
    }
    var before: SimulationOptions?
    while before != least, left > 0 {
      before = least
      for devices in 1..<max(2, least.devices) where accept(change: { $0.devices = devices }) {
        break
      }
      if !accept(change: { $0.faults = .none }) {
        for point in least.faults.points { _ = accept { $0.faults = $0.faults.without(point) } }
      }
      shrink(number: \.edits, to: 0)
      shrink(number: \.recordCount, to: 1)
    }
    return least
  }

  private static func needsLogs(violation: SimulationOutcome.Violation) -> Bool {
    violation.rule.contains(" log")
  }
}

extension SimulationOutcome {
  mutating func fail(rule: String, text: String) {
    violation = violation ?? Violation(rule: rule, text: text, elapsed: elapsed)
  }
}
