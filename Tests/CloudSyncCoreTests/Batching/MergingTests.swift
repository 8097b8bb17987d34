import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("Merging of edits")
struct MergingTests {
  @Test("Two saves of one record are one: the later field over the earlier, null included")
  func saves() throws {
    let bench = SessionHarness()
    try bench.modify([SessionHarness.record("a", ["x": 1, "y": 1, "z": 1])])
    try bench.modify([SessionHarness.record("b")])
    try bench.modify([SessionHarness.record("a", ["y": 2, "z": .null, "w": 3])])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["a", "b"]])
    let sent = bench.handler.modifyCalls[0].saves[0]
    #expect(sent["x"] == 1 && sent["y"] == 2 && sent["z"] == .null && sent["w"] == 3)
    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3])
    for end in [bench.completions.entries[0], bench.completions.entries[2]] {
      #expect(end.response.savedRecords.map(\.recordID.name) == ["a"])
    }
  }

  @Test("A deletion over a save is a deletion; both operations are told that the record is gone")
  func deletion() throws {
    let bench = SessionHarness()
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    try bench.modify(delete: ["a"])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["b", "-a"]])
    #expect(
      bench.completions.entries.map(\.response.deletedRecordIDs) == [
        [SessionHarness.id("a")], [SessionHarness.id("a")],
      ]
    )
    #expect(bench.completions.entries[0].response.savedRecords.map(\.recordID.name) == ["b"])
  }

  @Test("A save after a deletion is never in the same request, and nothing passes it")
  func recreation() throws {
    let bench = SessionHarness()
    try bench.modify(delete: ["a"])
    try bench.modify([SessionHarness.record("b")])
    try bench.modify([SessionHarness.record("a", ["x": 2])])
    try bench.modify([SessionHarness.record("c")])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["b", "-a"], ["a", "c"]])
    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3, 4])
  }

  @Test("Save, delete, save, delete: every recreation has its own request")
  func alternating() throws {
    let bench = SessionHarness()
    for number in Int64(0)..<3 {
      try bench.modify([SessionHarness.record("a", ["x": .int64(number)])])
      try bench.modify(delete: ["a"])
    }

    bench.start()

    // A save and the deletion after it are one deletion; the next save waits for it.
    #expect(bench.handler.modifyCalls.map(\.names) == [["-a"], ["-a"], ["-a"]])
    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3, 4, 5, 6])
    #expect(bench.brokenInvariant == nil)
  }

  @Test("Two deletions of one record are one")
  func deletions() throws {
    let bench = SessionHarness()
    try bench.modify(delete: ["a"])
    try bench.modify(delete: ["a", "b"])

    bench.start()

    #expect(bench.handler.modifyCalls.map(\.names) == [["-a", "-b"]])
    #expect(bench.completions.entries.map(\.response.deletedRecordIDs.count) == [1, 2])
  }

  @Test("An edit made while its record is on its way follows it, with the new change tag")
  func inFlight() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      .after(.seconds(1), .success(ScriptedHandler.allSaved(operation)))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1], tag: "t")])
    bench.world.run()
    try bench.modify([SessionHarness.record("a", ["x": 2], tag: "t")])
    try bench.modify([SessionHarness.record("a", ["y": 3], tag: "t")])

    bench.world.advance(by: .seconds(10))

    #expect(bench.handler.modifyCalls.map(\.names) == [["a"], ["a"]])
    let second = bench.handler.modifyCalls[1].saves[0]
    #expect(second.changeTag == "t+" && second["x"] == 2 && second["y"] == 3)
    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3])
    #expect(bench.completions.entries[2].response.savedRecords[0].changeTag == "t++")
  }

  @Test("A merged entry that is parked is told to every operation that it carries")
  func parked() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      .success(
        .init(
          failures: operation.records.map { ItemFailure($0.recordID, .init(.invalidArguments)) }
        )
      )
    }
    let bench = SessionHarness(script: script)
    for number in Int64(0)..<4 {
      try bench.modify([SessionHarness.record("a", ["x": .int64(number)])])
    }

    bench.start()

    #expect(bench.handler.modifyCalls.count == 1)
    #expect(
      bench.completions.entries.map(\.response.unsaved)
        == Array(repeating: [SessionHarness.id("a")], count: 4)
    )
    #expect(bench.state.parkedRecords.map(\.edit?["x"]) == [3])
    #expect(bench.state.progress.notDone == 4)
  }

  @Test("A request whose response was lost takes no later edit into it")
  func frozen() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .failure(.serverResponseLost) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a", ["x": 1])])
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 2])])

    bench.world.advance(by: .seconds(60))

    #expect(bench.handler.modifyCalls.map { $0.saves[0]["x"] } == [1, 1, 2])
    #expect(bench.handler.modifyCalls[0].token == bench.handler.modifyCalls[1].token)
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
  }

  @Test("An edit of a parked record merges with it, takes a fresh attempt, and passes nothing")
  func overParked() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .success(.init(failures: [ItemFailure(SessionHarness.id("a"), .init(.invalidArguments))]))
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a", ["x": 1, "y": 1])])
    bench.start()
    #expect(bench.state.parkedRecords.count == 1)

    try bench.modify([SessionHarness.record("a", ["y": 2])])
    bench.world.run()

    let sent = bench.handler.modifyCalls[1].saves[0]
    #expect(sent["x"] == 1 && sent["y"] == 2)
    #expect(bench.state.parkedRecords.isEmpty)
    #expect(bench.completions.entries.map(\.response.unsaved.count) == [1, 0])
    #expect(bench.parked.entries.map(\.recordID) == [SessionHarness.id("a")])
  }
}
