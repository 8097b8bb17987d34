import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Databases that exchange rows, without a session")
struct ExchangeTests {
  @Test("After random edits, lost responses and kills all tables are alike, and no edit is lost")
  func randomScripts() throws {
    for seed in UInt64(1)...UInt64(SuiteSize.count(2, long: 600)) {
      var world = try ExchangeWorld(seed: seed)
      try world.run()
      if let fault = try world.fault() {
        Issue.record("seed \(seed): \(fault)")
        return
      }
    }
  }
}
