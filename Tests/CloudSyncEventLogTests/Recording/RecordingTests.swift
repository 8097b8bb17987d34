import CloudSyncCore
import CloudSyncEventLog
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Recording")
struct RecordingTests {
  @Test("What a ring has recorded folds to the session's state")
  func ringFolds() throws {
    let run = try LogHarness.eventfulRun(sink: .ring())
    let log = try EventLog(bytes: run.bytes)
    #expect(log.mismatch == nil)
    #expect(log.hasEnded)
    #expect(try log.state(at: run.state.eventCount) == run.state)
  }
}
