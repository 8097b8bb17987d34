import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The row's machine beside the model")
struct RecordStateModelTests {
  @Test("Random scripts leave both in the same state after every event, and nothing is lost")
  func randomScripts() {
    for seed in UInt64(1)...UInt64(SuiteSize.count(15, long: 3_000)) {
      var world = Model.World(seed: seed)
      if let wrong = world.run() {
        Issue.record("seed \(seed): \(wrong)")
        return
      }
    }
  }
}
