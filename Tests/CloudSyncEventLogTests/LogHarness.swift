import CloudSyncCore
import CloudSyncTestSupport
import CloudSyncEventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A session in which much goes wrong, recorded.
enum LogHarness {
  /// The run that most tests look at, made once: it is the same every time.
  static func eventfulRun() throws -> (bytes: [UInt8], state: SyncState) { try eventful.get() }

  private static let eventful = Result { try eventfulRun(sink: .ring()) }

  static func eventfulRun(
    sink: EventRecorder.Sink,
    redactor: Redactor = .none
  ) throws -> (bytes: [UInt8], state: SyncState) {
    let bench = CloudHarness.eventful()
    let recorder = EventRecorder(sink, redactor: redactor)
    recorder.attach(to: bench.session)
    try bench.runEventfully()
    recorder.detach(from: bench.session)
    bench.world.runToEnd()
    return (recorder.data(redactor: redactor).map { Array($0) } ?? [], bench.state)
  }
}
