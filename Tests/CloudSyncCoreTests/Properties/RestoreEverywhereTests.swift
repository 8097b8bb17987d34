import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Restores at every event")
struct RestoreEverywhereTests {
  /// Each ends with a whole script: at every event of it, however few are wanted.
  private static let parts = SuiteSize.count(1, long: 6)

  @Test("A process may end before or after the effects of any event", arguments: 0..<parts)
  func everyEvent(part: Int) {
    var left = Scripts.count(of: SuiteSize.count(450, long: 900)) / Self.parts
    var seed = UInt64(200_000_000 + part * 1_000_000)
    while left > 0 {
      let plan = Self.plan(seed)
      let run = ScriptRun(plan)
      #expect(run.run() == nil, "seed \(seed)")
      let frames = run.memory.withLock { $0.frames }
      for frame in 1...max(1, frames) {
        for tearsFrame in [false, true] {
          var plan = plan
          plan.crashAtFrame = frame
          plan.tearsFrame = tearsFrame
          if let report = Scripts.check(plan) {
            Issue.record("\(report)")
            return
          }
          left -= 1
        }
      }
      seed += 1
    }
  }

  /// A short script without other restores.
  private static func plan(_ seed: UInt64) -> ScriptPlan {
    var plan = ScriptPlan(seed: seed, stepCount: 14)
    plan.steps.removeAll { step in
      if case .crash = step.action { true } else { false }
    }
    return plan
  }
}
