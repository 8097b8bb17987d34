import CloudSyncTestSupport
import Testing

/// `CLOUDSYNC_ENGINE_SCRIPTS=10000` has that many seeds tried, `CLOUDSYNC_ENGINE_SEED` one only.
@Suite("Random edits of several databases")
struct EngineScriptTests {
  /// Those who ask for scripts of their own have them from all parts.
  private static let parts =
    TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? TestSettings.number("CLOUDSYNC_ENGINE_SEED")
      == nil ? SuiteSize.count(2, long: 4) : 4

  @Test(
    "However edits, faults and restarts meet, all databases are equal in the end",
    arguments: 0..<parts
  )
  func converge(part: Int) throws {
    let count =
      (TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? SuiteSize.count(Self.parts, long: 160))
      / Self.parts
    for number in 0..<count {
      let seed = part * 1_000_000 + number
      if let only = TestSettings.number("CLOUDSYNC_ENGINE_SEED"), only != seed { continue }
      let script = try EngineScript(seed: UInt64(seed))
      if let text = try script.run() {
        let trace = TestSettings.number("CLOUDSYNC_ENGINE_SEED") == nil ? [] : script.trace
        Issue.record("seed \(seed): \(([text] + trace).joined(separator: "\n"))")
        return
      }
    }
  }
}
