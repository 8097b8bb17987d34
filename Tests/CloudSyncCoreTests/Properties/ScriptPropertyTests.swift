import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Promises under random scripts")
struct ScriptPropertyTests {
  private static let parts = 8

  @Test("Every promise holds under random calls, faults and restores", arguments: 0..<parts)
  func randomScripts(part: Int) {
    for number in 0..<Scripts.count(of: SuiteSize.count(900, long: 1_800)) / Self.parts {
      let seed = UInt64(part * 1_000_000 + number)
      if let only = Scripts.only, only != seed { continue }
      if let report = Scripts.check(ScriptPlan(seed: seed, stepCount: 40)) {
        Issue.record("\(report)")
        return
      }
    }
  }

  @Test("The same seed gives the same events, byte for byte, and the same state", arguments: 0..<4)
  func sameSeedSameBytes(part: Int) {
    for number in 0..<Scripts.count(of: 300) / 8 {
      var plan = ScriptPlan(seed: UInt64(100_000_000 + part * 1_000_000 + number), stepCount: 30)
      plan.keepsBytes = true
      if let only = Scripts.only, only != plan.seed { continue }
      let runs = [ScriptRun(plan), ScriptRun(plan)]
      for run in runs where run.run() != nil {
        Issue.record("\(Scripts.check(plan) ?? "It was found only once.")")
        return
      }
      let (first, second) = (runs[0].memory.withLock { $0 }, runs[1].memory.withLock { $0 })

      #expect(!first.recordBytes.isEmpty)
      #expect(first.recordBytes == second.recordBytes, "seed \(plan.seed)")
      #expect(first.finalState == second.finalState, "seed \(plan.seed)")
    }
  }
}
