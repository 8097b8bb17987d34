import CloudSyncCore
import CloudSyncEventLog
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("Recording to a function")
struct ClosureTests {
  @Test("A function gets whole lines, which together are the log that a ring has")
  func wholeLines() throws {
    let pieces = Collector<Data>()
    let run = try LogHarness.eventfulRun(sink: .closure { pieces.add($0) }, redactor: .none)
    let expected = try LogHarness.eventfulRun().bytes

    #expect(run.bytes == [])
    for piece in pieces.entries { #expect(piece.last == UInt8(ascii: "\n")) }
    #expect([UInt8](pieces.entries.reduce(Data(), +)) == expected)
  }

  @Test("A recorder that is detached is not called")
  func detached() throws {
    let pieces = Collector<Data>()
    let recorded = RecordedHarness(.closure { pieces.add($0) })
    recorded.attach()
    recorded.bench.start()
    recorded.detach()
    let count = pieces.entries.count
    try recorded.save(0..<3)

    #expect(count > 3)
    #expect(pieces.entries.count == count)
  }

  @Test("A middleware that joins is in the log at its place")
  func joining() throws {
    let pieces = Collector<Data>()
    let recorded = RecordedHarness(.closure { pieces.add($0) })
    recorded.attach()
    recorded.bench.start()
    recorded.bench.session.appendMiddleware(LoggerTwin())
    try recorded.save(0..<2)
    recorded.detach()
    let log = try EventLog(bytes: [UInt8](pieces.entries.reduce(Data(), +)))

    #expect(!log.header.middleware.contains("LoggerTwin"))
    #expect(log.middleware(before: .max).contains("LoggerTwin"))
    #expect(log.mismatch == nil && log.warnings == [])
    #expect(try Replay.rerun(log, middleware: [LoggerTwin()]).isFaithful)
  }

  private struct LoggerTwin: Middleware {
    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      next(event)
    }
  }
}
