import CloudSyncTestSupport
import Testing

/// `CLOUDSYNC_ENGINE_SCRIPTS=10000` has that many seeds tried, `CLOUDSYNC_ENGINE_SEED` one only.
@Suite("Random edits of databases whose zone is lost")
struct LostZoneScriptTests {
  @Test(
    "However often the zone is lost, all databases are equal in the end, and no newest edit is lost",
    arguments: 0..<2
  )
  func converge(part: Int) throws {
    let count =
      (TestSettings.number("CLOUDSYNC_ENGINE_SCRIPTS") ?? SuiteSize.count(2, long: 160)) / 2
    for number in 0..<count {
      let seed = 7_000_000 + part * 1_000_000 + number
      if let only = TestSettings.number("CLOUDSYNC_ENGINE_SEED"), only != seed { continue }
      if let text = try EngineScript(seed: UInt64(seed), losesZones: true).run() {
        Issue.record("seed \(seed): \(text)")
        return
      }
    }
  }
}
