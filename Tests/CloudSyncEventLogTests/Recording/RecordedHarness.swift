import CloudSyncCore
import CloudSyncEventLog
import Foundation
import CloudSyncTestSupport
import Testing

/// A bench that is recorded, step by step.
struct RecordedHarness {
  let bench = SessionHarness()
  let recorder: EventRecorder

  init(_ sink: EventRecorder.Sink, redactor: Redactor = .none) {
    recorder = EventRecorder(sink, redactor: redactor)
  }

  func attach() {
    recorder.attach(to: bench.session)
    bench.world.run()
  }

  func detach() {
    recorder.detach(from: bench.session)
    bench.world.run()
  }

  /// Saves so many records, one after the other: three events each.
  func save(_ range: Range<Int>) throws {
    for index in range {
      try bench.modify([.note("r\(index % 50)", index)])
      bench.world.run()
    }
  }

  /// What the ring has, opened.
  func log(_ redactor: Redactor = .none) throws -> EventLog {
    try EventLog(bytes: [UInt8](try #require(recorder.data(redactor: redactor))))
  }
}

extension EventLog {
  /// What is wrong with the log: it must end as it should, verify, and re-run as it was.
  func faults() throws -> [String] {
    var faults = warnings.map(\.description)
    if mismatch != nil { faults.append("a digest does not agree") }
    if !hasEnded { faults.append("it has no end") }
    faults += try Replay.rerun(self).divergences.map(\.description)
    return faults
  }
}
