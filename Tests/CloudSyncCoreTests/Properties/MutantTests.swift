import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// The checks of the property tests, checked.
@Suite("Mutants")
struct MutantTests {
  @Test(
    "Every mistake is found within a few scripts",
    arguments: SuiteSize.some(2, of: Mutant.allCases)
  )
  func isFound(mutant: Mutant) {
    var tried = 0
    var found: String?
    while found == nil, tried < mutant.patience {
      var plan = ScriptPlan(seed: UInt64(300_000_000 + tried), stepCount: 40)
      plan.mutant = mutant
      plan.keepsBytes = mutant == .driftsApart
      let run = ScriptRun(plan)
      found = run.run()
      if found == nil, mutant == .driftsApart { found = Self.difference(run, ScriptRun(plan)) }
      tried += 1
    }

    #expect(found != nil, "\(mutant) was not found by \(tried) scripts")
    if Scripts.isVerbose { print("\(mutant) found by script \(tried): \(found ?? "-")") }
  }

  private static func difference(_ first: ScriptRun, _ second: ScriptRun) -> String? {
    _ = second.run()
    let bytes = [first, second].map { $0.memory.withLock { $0.recordBytes } }
    return bytes[0] == bytes[1] ? nil : "the events of one seed differ"
  }
}
