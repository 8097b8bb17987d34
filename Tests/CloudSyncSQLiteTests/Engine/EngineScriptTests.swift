import CloudSyncTestSupport
import Testing

/// `CLOUDSYNC_ENGINE_SCRIPTS=10000` has that many seeds tried, `CLOUDSYNC_ENGINE_SEED` one only.
@Suite("Random edits of several databases")
struct EngineScriptTests {
  @Test(
    "However edits, faults and restarts meet, all databases are equal in the end",
    arguments: 0..<4
  )
  func converge(part: Int) throws {
    let count =
      (TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? SuiteSize.count(4, long: 160)) / 4
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
