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
  static func eventfulRun(
    sink: EventRecorder.Sink,
    redactor: Redactor = .none
  ) throws -> (bytes: [UInt8], state: SyncState) {
    var options = StubCloud.Options()
    options.delay = .milliseconds(300)
    options.pageSize = 7
    options.itemLimit = 20
    options.refuse = { id, _ in id.name == "r13" ? SyncError(.invalidArguments, "no") : nil }
    let bench = CloudHarness(options: options) { number, _ in
      switch number % 11 {
      case 3: .failure(.networkFailure)
      case 5: .lostAfter
      case 7: .failure(.requestRateLimited, retryAfter: .seconds(2))
      case 9: .duplicate(again: .milliseconds(50))
      case 10: .neverAfter
      default: nil
      }
    }
    let recorder = EventRecorder(sink, redactor: redactor)
    recorder.attach(to: bench.session)
    for index in 0..<9 { bench.cloud.save(.note("r\(index)", 100)) }
    bench.session.start()
    try bench.modify((0..<50).map { .note("r\($0)", 1) }, delete: ["gone"])
    bench.session.fetch()
    bench.world.advance(by: .seconds(20))
    bench.cloud.loseZone()
    for index in 0..<20 { try bench.modify([.note("r\(index)", 2)]) }
    bench.session.fetch(FetchOperation(startingOver: true))
    bench.world.advance(by: .seconds(100))
    bench.session.stop()
    bench.session.start()
    bench.world.runToEnd()
    recorder.detach(from: bench.session)
    bench.world.runToEnd()
    return (recorder.data(redactor: redactor).map { Array($0) } ?? [], bench.state)
  }
}
