import CloudSyncCore
import Testing

@Suite("Coverage of the random scripts")
struct ScriptCoverageTests {
  @Test("The scripts come across everything that can happen to a session")
  func reachesEverything() {
    var covered: Set<String> = []
    for seed in 0..<UInt64(Scripts.count(of: 150)) {
      let run = ScriptRun(ScriptPlan(seed: 400_000_000 + seed, stepCount: 40))
      if run.run() != nil { Issue.record("\(Scripts.check(run.plan) ?? "-")") }
      covered.formUnion(run.memory.withLock { $0.covered })
    }
    if Scripts.isVerbose { for name in covered.sorted() { print("covered: \(name)") } }
  }
}
