#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How much the tests try: what takes a minute or two, or with `CLOUDSYNC_LONG=1` all of it.
package enum SuiteSize {
  package static let isLong = ProcessInfo.processInfo.environment["CLOUDSYNC_LONG"] == "1"

  /// How many scripts, seeds or rounds a test has, in the suite and in the long run.
  package static func count(_ few: Int, long: Int) -> Int { isLong ? long : few }

  /// So many of the cases of a test, from all over the list; all of them in the long run.
  package static func some<Case>(_ count: Int, of cases: [Case]) -> [Case] {
    if isLong || cases.count <= count { return cases }
    return (0..<count).map { cases[$0 * cases.count / count] }
  }
}
