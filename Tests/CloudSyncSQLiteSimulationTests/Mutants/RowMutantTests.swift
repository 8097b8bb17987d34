import CloudSyncSQLiteSimulation
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if DEBUG  // a release has no place where a mistake can be put
/// The checkers of a simulation of databases, checked.
@Suite("Mutants of the machine of rows")
struct RowMutantTests {
  /// A few by default; all, or the one that is named, if `CLOUDSYNC_MUTANTS` asks for it.
  static var mutants: [RowMutant] {
    let wanted = ProcessInfo.processInfo.environment["CLOUDSYNC_MUTANTS"]
    if wanted == "all" { return RowMutant.allCases }
    return wanted.flatMap { RowMutant(rawValue: $0) }.map { [$0] }
      ?? SuiteSize.few(1, of: RowMutant.usual)
  }

  /// How many seeds may pass before one finds a mistake.
  private static let patience: UInt64 = 500

  @Test("Every mistake is found within its number of seeds", arguments: mutants)
  func isFound(mutant: RowMutant) {
    var found: SimulationOutcome.Violation?
    var tried: UInt64 = 0
    while found == nil, tried < Self.patience {
      tried += 1
      var options = SimulationOptions(seed: 900_000 + tried)
      options.device = "sqlite"
      options.edits = 40
      let simulation = Simulation<SQLiteDevice>(options)
      let violation = RecordMutation.$reduce.withValue(mutant.reduce) { simulation.run().violation }
      // A seed that fails without the mistake too says nothing of it.
      if let violation, simulation.run().violation == nil { found = violation }
    }

    #expect(found != nil, "\(mutant) was not found by \(tried) seeds")
    if ProcessInfo.processInfo.environment["CLOUDSYNC_VERBOSE"] != nil {
      print("| \(mutant) | \(tried) | \(found.map { $0.rule } ?? "-") |")
    }
  }

  @Test("There are at least thirty mistakes")
  func isTable() { #expect(RowMutant.allCases.count >= 30) }
}
#endif
