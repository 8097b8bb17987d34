import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLogTestGeneration
import CloudSyncTestSupport
import Testing

@Suite("SessionScript.shortened")
struct ShorteningTests {
  @Test(
    "A run that halts after many irrelevant edits is cut down to the call, the edit, the response"
  )
  func halting() throws {
    let script = try SessionScript(ScriptHarness.haltingLog())
    #expect(try script.run().finalError == .badContainer)
    #expect(script.entryCount > 60)

    let short = script.shortened(keeping: .badContainer)

    #expect(try short.run().finalError == .badContainer)
    #expect(short.entryCount == 3)
    #expect(short.answers.map(\.content) == [.result(.failure(SyncError(.badContainer)))])
    #expect(short.calls.allSatisfy { $0.time == .zero })
    #expect(short.duration == nil)
  }

  @Test("An operation that the app gave up needs itself and the call that gave it up")
  func cancelled() throws {
    let log = try ScriptHarness.log(SessionHarness()) { bench in
      bench.start()
      for index in 0..<9 { try bench.modify([.note("r\(index)", index)]) }
      bench.world.advance(by: .seconds(1))
      bench.session.stop()
      let id = try bench.modify([.note("a", 1), .note("b", 1)])
      try bench.modify([.note("c", 1)])
      bench.session.cancel(id)
      bench.session.start()
      bench.world.advance(by: .seconds(1))
    }
    let short = try SessionScript(log).shortened(keeping: .cancelled)

    #expect(short.entryCount == 2)
    guard case .modify(let operation, 10?) = short.calls.first?.call else {
      Issue.record("\(short.calls)")
      return
    }
    #expect(operation.itemCount == 1)
    #expect(operation.records.first?.fields == [])
    #expect(short.calls.last?.call == .cancel(10))
  }

  @Test("A conflict that halts needs the decision")
  func conflict() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      let ids = operation.records.map(\.recordID.name)
      guard ids.contains("r5") else { return .success(ScriptedHandler.allSaved(operation)) }
      let error = SyncError(.serverRecordChanged, serverRecord: .note("r5", 7, tag: "s"))
      return .success(
        .init(
          savedRecords: operation.records.filter { $0.recordID.name != "r5" },
          failures: [ItemFailure(SessionHarness.id("r5"), error)]
        )
      )
    }
    let resolver = ConflictResolver { (_: Record, _: Record) -> Record? in nil }
    let log = try ScriptHarness.log(SessionHarness(resolver: resolver, script: script)) { bench in
      bench.start()
      try bench.modify((0..<9).map { .note("r\($0)", $0, tag: "old") })
      bench.world.advance(by: .seconds(1))
    }
    let short = try SessionScript(log).shortened(keeping: .conflictUnresolved)

    #expect(try short.run().finalError == .conflictUnresolved)
    #expect(short.entryCount == 4)
    #expect(short.decisions.count == 1)
  }

  @Test("What is cut down comes out the same every time, also with few runs")
  func deterministic() throws {
    let script = try SessionScript(ScriptHarness.haltingLog())

    let first = script.shortened(keeping: .badContainer, runLimit: 25)
    let second = script.shortened(keeping: .badContainer, runLimit: 25)

    #expect(first == second)
    #expect(first.entryCount < script.entryCount)
    #expect(try first.run().finalError == .badContainer)
  }

  @Test("A script that ends otherwise is left alone, one that ends in nothing becomes empty")
  func otherEndings() throws {
    let script = try SessionScript(ScriptHarness.haltingLog())
    #expect(script.shortened(keeping: .quotaExceeded) == script)

    var quiet = SessionScript(zoneID: SessionHarness.zoneID)
    quiet.at(.zero, .start)
    #expect(quiet.shortened(keeping: nil).entryCount == 0)
  }
}
