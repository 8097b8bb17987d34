import CloudSyncCore
import CloudSyncTestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How many scripts are run, and what is told about one that fails.
enum Scripts {
  /// The share of a test in the scripts that `CLOUDSYNC_SCRIPTS` asks for, 240 by default and 15,000 in the long run.
  static func count(of share: Int) -> Int {
    let wanted = ProcessInfo.processInfo.environment["CLOUDSYNC_SCRIPTS"].flatMap { Int($0) }
    return max(1, share * (wanted ?? SuiteSize.count(80, long: 15_000)) / 3000)
  }

  /// The one seed that `CLOUDSYNC_SEED` asks for.
  static var only: UInt64? {
    ProcessInfo.processInfo.environment["CLOUDSYNC_SEED"].flatMap { UInt64($0) }
  }

  /// Whether `CLOUDSYNC_VERBOSE` asks for a line about every mutant.
  static var isVerbose: Bool {
    ProcessInfo.processInfo.environment["CLOUDSYNC_VERBOSE"] != nil
  }

  /// Runs a script; returns nil if all went well, or else the least script that still fails.
  static func check(_ plan: ScriptPlan) -> String? {
    guard let violation = ScriptRun(plan).run() else { return nil }
    let least = shrink(plan, violation)
    let run = ScriptRun(least, isTracing: true)
    let again = run.run() ?? "nothing, when it was run again"
    let trace = run.memory.withLock { $0.report.trace }
    return """
      \(violation)
      At its least: \(again)
      \(least)
      \(trace.suffix(150).joined(separator: "\n"))
      """
  }

  /// Leaves out steps and faults as long as the same thing goes wrong.
  private static func shrink(_ plan: ScriptPlan, _ violation: String) -> ScriptPlan {
    let kind = Self.kind(of: violation)
    func fails(_ plan: ScriptPlan) -> Bool {
      ScriptRun(plan).run().map { Self.kind(of: $0) == kind } ?? false
    }
    var least = plan
    var size = max(1, plan.steps.count / 2)
    while size > 0 {
      var start = 0
      while start < least.steps.count {
        var shorter = least
        shorter.steps.removeSubrange(start..<min(start + size, shorter.steps.count))
        if fails(shorter) { least = shorter } else { start += size }
      }
      size = size == 1 ? 0 : size / 2
    }
    for index in least.steps.indices {
      var calmer = least
      calmer.steps[index].isRushed = false
      if fails(calmer) { least = calmer }
    }
    for call in 1...120 {
      var calmer = least
      calmer.sparedCalls.insert(call)
      if fails(calmer) { least = calmer }
    }
    return least
  }

  /// The words of a violation without its numbers.
  private static func kind(of violation: String) -> String {
    String(violation.filter { $0.isLetter || $0 == " " }.prefix(60))
  }
}
