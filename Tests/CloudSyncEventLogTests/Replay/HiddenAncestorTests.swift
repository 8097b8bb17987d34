import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Testing

/// What a conflict was measured from is told by values, which a log may hide.
@Suite("Re-runs of conflicts after a second edit, of logs that hide values")
struct HiddenAncestorTests {
  /// What is hidden.
  enum Hiding: CaseIterable, Sendable {
    case nothing, digests, everything

    var redactor: Redactor {
      switch self {
      case .nothing: .none
      case .digests: .digests(salt: 7)
      case .everything: .drops(salt: 7)
      }
    }
  }

  /// A resolver that decides for a value of its own first, and parks then.
  private static func resolver(asked: Locked<Int>) -> ConflictResolver {
    ConflictResolver { conflict -> ConflictResolution in
      let isFirst = asked.withLock {
        $0 += 1
        return $0 == 1
      }
      if !isFirst { return .park }
      var merged = conflict.server
      merged["t"] = "bbbb"
      return .save(merged)
    }
  }

  @Test("A re-run parks with the same ancestor", arguments: Hiding.allCases)
  func parked(_ hiding: Hiding) throws {
    var options = StubCloud.Options()
    options.delay = .seconds(1)
    let asked = Locked(0)
    let bench = CloudHarness(options: options, resolver: Self.resolver(asked: asked))
    let recorder = EventRecorder(.ring(), redactor: hiding.redactor)
    recorder.attach(to: bench.session)
    bench.start()
    bench.world.advance(by: .seconds(10))
    try bench.session.modify(ModifyOperation(records: [SessionHarness.record("a", ["t": "o"])]))
    bench.world.advance(by: .seconds(10))
    let shown = try #require(bench.cloud["a"])
    var other = shown
    other["t"] = "longer than before"
    bench.cloud.save(other)
    // As long as what the conflict is resolved to.
    var once = shown
    once["t"] = "aaaa"
    try bench.session.modify(ModifyOperation(records: [once], ancestors: [shown]))
    bench.world.run()
    #expect(bench.state.isModifying)
    var twice = once
    twice["t"] = "cccccc"
    try bench.session.modify(ModifyOperation(records: [twice], ancestors: [once]))
    bench.world.advance(by: .seconds(4_000))
    #expect(bench.state.parkedRecords.count == 1 && asked.withLock { $0 } == 2)
    recorder.detach(from: bench.session)
    bench.world.runToEnd()

    let bytes = try #require(recorder.data(redactor: hiding.redactor).map { Array($0) })
    #expect(try Replay.rerun(EventLog(bytes: bytes)).divergences.map(\.description) == [])
  }
}
