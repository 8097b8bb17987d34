import CloudSyncCore
import CloudSyncTestSupport
import CloudSyncEventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A session in which one thing after the other goes wrong, in an order that tests know by heart.
///
/// Operations: 1 saves `a b c` and meets a network failure; 2 saves `d` and meets a conflict with a
/// record of the tag `server`; 3 saves `e`, which is refused and dropped later, and `f`; 4 saves
/// `g h i j` and is too large; 5 saves `k`, whose response is lost; 6 fetches two pages, the first
/// with `x y`, the second with `d` and the deletion of `z`; 7 and 8, queued while the session is
/// stopped, both edit `a`; 9 deletes `b` and is cancelled before it is sent.
enum AnalysisHarness {
  static func log(_ redactor: Redactor = .none) throws -> EventLog {
    try EventLog(bytes: bytes(redactor))
  }

  static func bytes(_ redactor: Redactor = .none) throws -> [UInt8] {
    let bench = SessionHarness(script: script)
    let recorder = EventRecorder(.ring(), redactor: redactor)
    recorder.attach(to: bench.session)
    bench.world.advance(by: .seconds(1))
    bench.start()
    try bench.modify(["a", "b", "c"].map { SessionHarness.record($0) })
    bench.world.advance(by: .seconds(10))
    try bench.modify([SessionHarness.record("d", tag: "old")])
    bench.world.advance(by: .seconds(10))
    try bench.modify(["e", "f"].map { SessionHarness.record($0) })
    bench.world.advance(by: .seconds(10))
    try bench.modify(["g", "h", "i", "j"].map { SessionHarness.record($0) })
    bench.world.advance(by: .seconds(10))
    try bench.modify([SessionHarness.record("k")])
    bench.world.advance(by: .seconds(400))
    bench.session.fetch()
    bench.world.advance(by: .seconds(10))
    bench.session.dropParked([SessionHarness.id("e")])
    bench.world.run()
    bench.session.stop()
    bench.world.run()
    try bench.modify([SessionHarness.record("a", ["x": 2])])
    try bench.modify([SessionHarness.record("a", ["y": 3])])
    let last = try bench.modify(delete: ["b"])
    bench.session.cancel(last)
    bench.world.advance(by: .seconds(50))
    bench.session.start()
    bench.world.advance(by: .seconds(1))
    recorder.detach(from: bench.session)
    bench.world.run()
    return recorder.data(redactor: redactor).map { Array($0) } ?? []
  }

  private static var script: ScriptedHandler.Script {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      switch number {
      case 0: .failure(.networkFailure)
      case 2:
        .success(
          .init(failures: [
            ItemFailure(
              SessionHarness.id("d"),
              SyncError(
                .serverRecordChanged,
                "changed by “somebody”",
                serverRecord: SessionHarness.record("d", ["x": 7], tag: "server")
              )
            )
          ])
        )
      case 4:
        .success(
          .init(
            savedRecords: operation.records.filter { $0.recordID.name == "f" },
            failures: [ItemFailure(SessionHarness.id("e"), SyncError(.invalidArguments))]
          )
        )
      case 5: .failure(.limitExceeded)
      case 8: .never
      default: .after(.milliseconds(100), .success(ScriptedHandler.allSaved(operation)))
      }
    }
    script.fetch = { _, number in
      .success(
        .init(
          changedRecords: (number == 0 ? ["x", "y"] : ["d"])
            .map { SessionHarness.record($0, tag: "f") },
          deletedRecords: number == 0 ? [] : [DeletedRecord(recordID: SessionHarness.id("z"))],
          changeToken: ChangeToken(text: "t\(number)"),
          hasMore: number == 0
        )
      )
    }
    return script
  }

  static func all(_ log: EventLog) throws -> [LogStep] {
    var steps: [LogStep] = []
    try log.forEachStep { step in
      steps.append(step)
      return true
    }
    return steps
  }

  static func matching(_ filter: LogFilter, _ log: EventLog) throws -> [LogStep] {
    var steps: [LogStep] = []
    try log.forEachStep(matching: filter) { step in
      steps.append(step)
      return true
    }
    return steps
  }

  /// The number of the first event of a kind.
  static func first(_ kind: String, _ log: EventLog) throws -> UInt64? {
    try all(log).first { $0.record.event.name == kind }?.sequence
  }
}
