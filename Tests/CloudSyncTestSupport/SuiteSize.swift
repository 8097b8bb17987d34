#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How much the tests try: what takes a minute or two, or with `CLOUDSYNC_LONG=1` all of it.
///
/// With `CLOUDSYNC_CASES=all`, as in the gate, tests have all the cases that they list, and the scripts, seeds and rounds of
/// the suite.
package enum SuiteSize {
  package static let isLong = ProcessInfo.processInfo.environment["CLOUDSYNC_LONG"] == "1"

  private static let hasAllCases =
    isLong || ProcessInfo.processInfo.environment["CLOUDSYNC_CASES"] == "all"

  /// How many scripts, seeds or rounds a test has, in the suite and in the long run.
  package static func count(_ few: Int, long: Int) -> Int { isLong ? long : few }

  /// So many of the cases of a test, from all over the list; all of them in the gate.
  package static func some<Case>(_ count: Int, of cases: [Case]) -> [Case] {
    hasAllCases ? cases : evenly(count, of: cases)
  }

  /// So many of the seeds or mutants of a test, each of which takes seconds; all of them in the long run alone.
  package static func few<Case>(_ count: Int, of cases: [Case]) -> [Case] {
    isLong ? cases : evenly(count, of: cases)
  }

  private static func evenly<Case>(_ count: Int, of cases: [Case]) -> [Case] {
    if cases.count <= count { return cases }
    return (0..<count).map { cases[$0 * cases.count / count] }
  }

  /// So many pairs of a case of each list, from all over both; in the gate each with each.
  package static func pairs<One, Other>(
    _ count: Int,
    _ ones: [One],
    _ others: [Other]
  ) -> [(One, Other)] {
    if hasAllCases || ones.count * others.count <= count {
      return ones.flatMap { one in others.map { (one, $0) } }
    }
    return (0..<count).map { (ones[$0 * ones.count / count], others[$0 % others.count]) }
  }
}
