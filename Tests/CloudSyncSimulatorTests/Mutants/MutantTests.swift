import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The checkers of a simulation, checked.
@Suite("Mutants of a simulation")
struct MutantTests {
  /// A few by default; all if `CLOUDSYNC_MUTANTS` asks for them.
  static var mutants: [Mutant] {
    let wanted = ProcessInfo.processInfo.environment["CLOUDSYNC_MUTANTS"]
    return wanted == "all" ? Mutant.allCases : SuiteSize.few(5, of: Mutant.usual)
  }

  @Test("Every mistake is found within its number of seeds", arguments: mutants)
  func isFound(mutant: Mutant) {
    var found: SimulationOutcome.Violation?
    var tried: UInt64 = 0
    while found == nil, tried < UInt64(mutant.patience) {
      tried += 1
      var options = SimulationOptions(seed: 900_000 + tried)
      options.edits = 150
      options.faults = mutant.faults
      found = mutant.run(options).violation
    }

    #expect(found != nil, "\(mutant) was not found by \(tried) seeds")
    if let rule = mutant.rule { #expect(found?.rule == rule) }
    if ProcessInfo.processInfo.environment["CLOUDSYNC_VERBOSE"] != nil {
      print("| \(mutant) | \(tried) | \(found.map { "\($0)" } ?? "-") |")
    }
  }

  @Test("There are at least twenty-five mistakes")
  func isTable() { #expect(Mutant.allCases.count >= 25) }
}
