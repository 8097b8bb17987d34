import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// What the random scripts found about edits that meet, and about a zone that is lost.
@Suite("Found by random scripts: edits that meet")
struct FoundInMergesTests {
  @Test("Edits of different versions of a record are not merged under one of their tags")
  func differentVersions() throws {
    let server = SessionHarness.record("a", ["x": 7, "y": 8], tag: "new")
    let asked = Collector<Conflict>()
    let bench = SessionHarness(
      resolver: ConflictResolver { conflict in
        asked.add(conflict)
        return .save(conflict.client)
      }
    )
    bench.handler.change { script in
      script.fetch = { operation, _ in
        .success(.init(changedRecords: [server], changeToken: nil))
      }
    }
    bench.start()
    bench.session.stop()
    try bench.modify([SessionHarness.record("a", ["x": 1], tag: "new")])
    try bench.modify([SessionHarness.record("a", ["y": 2], tag: "old")])
    bench.session.start()
    bench.world.run()

    #expect(asked.entries.map(\.client["y"]) == [2])
    #expect(asked.entries.map(\.server) == [server])
    #expect(bench.handler.modifyCalls.count == 1)
    #expect(bench.handler.modifyCalls.first?.saves.first?.changeTag == "new")
    #expect(bench.completions.entries.count == 2)
  }

  @Test("A conflict that has to be looked up counts once")
  func lookedUpOnce() throws {
    let server = SessionHarness.record("a", ["x": 7], tag: "new")
    var configuration = SyncConfiguration()
    configuration.conflictBudget = 1
    let bench = SessionHarness(configuration: configuration)
    bench.handler.change { script in
      script.fetch = { _, _ in .success(.init(changedRecords: [server], changeToken: nil)) }
      script.modify = { operation, number in
        let failure = ItemFailure(SessionHarness.id("a"), SyncError(.serverRecordChanged))
        return number == 0
          ? .success(.init(failures: [failure])) : .success(ScriptedHandler.allSaved(operation))
      }
    }
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1], tag: "old")])
    bench.world.run()

    #expect(bench.completions.entries.map(\.response.unsaved) == [[]])
  }

  @Test("A parked record that is on its way again is still shown")
  func returningIsShown() throws {
    let bench = SessionHarness()
    bench.start()
    bench.handler.change { script in
      script.modify = { _, number in
        let failure = ItemFailure(SessionHarness.id("a"), SyncError(.invalidArguments))
        return number == 0 ? .success(.init(failures: [failure])) : .never
      }
    }
    try bench.modify([SessionHarness.record("a", ["x": 1])])
    bench.world.run()
    #expect(bench.state.parkedRecords.map(\.recordID) == [SessionHarness.id("a")])
    bench.session.retryParked()
    bench.world.run()

    #expect(bench.state.parkedRecords.isEmpty && bench.state.modifyQueue.isEmpty)
    #expect(bench.state.returningRecords.map(\.recordID) == [SessionHarness.id("a")])
    #expect(bench.state.returningRecords.map { $0.edit?["x"] } == [1])
  }

  @Test("A record that was deleted after a conflict is made anew of what the app gave alone")
  func madeAnewAfterConflict() throws {
    let server = SessionHarness.record("a", ["x": 9, "y": 1], tag: "new")
    let bench = SessionHarness()
    bench.start()
    bench.handler.change { script in
      script.modify = { operation, number in
        var conflict = SyncError(.serverRecordChanged)
        conflict.serverRecord = server
        let errors = [conflict, SyncError(.unknownItem)]
        return number < errors.count
          ? .success(.init(failures: [ItemFailure(SessionHarness.id("a"), errors[number])]))
          : .success(ScriptedHandler.allSaved(operation))
      }
    }
    try bench.modify([SessionHarness.record("a", ["y": 2], tag: "old")])
    bench.world.run()

    let sent = bench.handler.modifyCalls.map { $0.saves.first }
    #expect(sent.map { $0?.changeTag } == ["old", "new", nil])
    #expect(sent.last??.fields.map(\.name) == ["y"])
    #expect(bench.completions.entries.map(\.response.unsaved) == [[]])
  }

  @Test("A record that is made anew does not bring back what a later edit has replaced")
  func madeAnew() throws {
    let old = SessionHarness.record("a", ["x": 1, "y": 1], tag: "t")
    let bench = SessionHarness(limits: RequestLimits(items: 1))
    bench.start()
    bench.handler.change { script in
      script.modify = { operation, number in
        number == 0 ? .failure(.zoneNotFound) : .success(ScriptedHandler.allSaved(operation))
      }
    }
    bench.session.stop()
    var whole = old
    whole["y"] = 3
    try bench.modify([SessionHarness.record("a", ["x": 2], tag: "t")])
    try bench.modify([SessionHarness.record("b")])
    try bench.session.modify(ModifyOperation(records: [whole], ancestors: [old]))
    bench.session.start()
    bench.world.run()

    let sent = bench.handler.modifyCalls.flatMap(\.saves).filter { $0.recordID.name == "a" }
    #expect(sent.last?["x"] == nil)
    #expect(sent.last?["y"] == 3)
    #expect(bench.completions.entries.count == 3)
  }

  @Test("A record that is gone, and that the app makes again, is not sent under its old tag")
  func goneAndMadeAgain() throws {
    var configuration = SyncConfiguration()
    configuration.missingRecordPolicy = .park
    let bench = SessionHarness(configuration: configuration)
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    let tag = try #require(bench.completions.entries.last?.response.savedRecords.first?.changeTag)
    bench.handler.change { script in
      script.modify = { operation, _ in
        let failures = operation.records.filter { $0.changeTag != nil }
          .map { ItemFailure($0.recordID, SyncError(.unknownItem)) }
        return .success(
          failures.isEmpty
            ? ScriptedHandler.allSaved(operation) : ModifyOperation.Response(failures: failures)
        )
      }
    }
    try bench.modify([SessionHarness.record("a", ["y": 2], tag: tag)])
    bench.world.run()
    bench.session.dropParked()
    try bench.modify([SessionHarness.record("a", ["y": 3])])
    bench.world.run()

    #expect(bench.handler.modifyCalls.map { $0.saves.first?.changeTag } == [nil, tag, nil])
    #expect(bench.state.parkedRecords.isEmpty)
  }
}
