import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("CloudSyncSession")
struct SessionBasicsTests {
  @Test("A started session creates zone and subscription, then sends what is queued, in order")
  func startsAndSends() throws {
    let bench = SessionHarness()
    try bench.modify([SessionHarness.record("a")])
    try bench.modify([SessionHarness.record("b")], delete: ["c"])
    #expect(bench.handler.calls.isEmpty)

    bench.start()

    #expect(
      bench.handler.calls.map(\.mode) == [.createZone, .createSubscription, .modify]
    )
    #expect(bench.handler.modifyCalls[0].names == ["a", "b", "-c"])
    #expect(bench.completions.entries.map(\.id.number) == [1, 2])
    #expect(bench.completions.entries[1].response.deletedRecordIDs == [SessionHarness.id("c")])
    #expect(bench.state.hasWorkQueued == false)
    #expect(bench.brokenInvariant == nil)
  }

  @Test("Ten quick edits of one record are one or two requests and no conflict")
  func quickEdits() throws {
    let bench = SessionHarness()
    bench.start()
    for value in 0..<10 {
      try bench.modify([SessionHarness.record("a", ["x": .int64(Int64(value))])])
    }
    bench.world.run()

    #expect(bench.handler.modifyCalls.count <= 2)
    #expect(bench.completions.entries.count == 10)
    #expect(bench.handler.modifyCalls.last?.saves[0]["x"] == 9)
  }

  @Test("A network that is away is waited for with growing pauses, and nothing is lost")
  func networkAway() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number < 5
        ? .failure(.networkFailure) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([SessionHarness.record("a")])

    #expect(bench.world.runToEnd(limit: .seconds(3600)))

    #expect(bench.handler.modifyCalls.count == 6)
    #expect(bench.completions.entries.count == 1)
    let times = bench.handler.modifyCalls.map(\.time)
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(earlier.distance(to: later) >= 500_000_000)
    }
  }

  @Test("A fetch runs page by page and says which page is the last")
  func pages() throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(
        .init(
          changedRecords: [SessionHarness.record("r\(number)")],
          changeToken: ChangeToken(text: "t\(number)"),
          hasMore: number < 2
        )
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch(FetchOperation(changeToken: ChangeToken(text: "t")))
    bench.world.run()

    #expect(bench.pages.entries.map(\.isLast) == [false, false, true])
    #expect(
      bench.handler.fetchCalls.map { $0.fetch?.changeToken } == [
        ChangeToken(text: "t"), ChangeToken(text: "t0"), ChangeToken(text: "t1"),
      ]
    )
  }

  @Test("A conflict is resolved into the server's record and sent with its tag")
  func conflict() throws {
    let server = SessionHarness.record("a", ["x": 5, "y": 2], tag: "s")
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .now(
          .success(
            .init(failures: [
              ItemFailure(
                SessionHarness.id("a"),
                SyncError(.serverRecordChanged, serverRecord: server)
              )
            ])
          )
        )
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([SessionHarness.record("a", ["x": 1])])
    bench.world.run()

    #expect(bench.handler.modifyCalls.count == 2)
    #expect(bench.handler.modifyCalls[1].saves[0].changeTag == "s")
    #expect(bench.handler.modifyCalls[1].saves[0]["x"] == 1)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A response that is lost is asked for again with the same request and token")
  func lostResponse() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0 ? .never : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    try bench.modify([SessionHarness.record("b")])
    bench.world.run()
    #expect(bench.handler.modifyCalls.count == 1)

    bench.world.advance(by: .seconds(400))

    #expect(bench.handler.cancelled.count == 1)
    #expect(bench.handler.modifyCalls.map(\.names) == [["a"], ["a"], ["b"]])
    #expect(bench.handler.modifyCalls[0].token == bench.handler.modifyCalls[1].token)
    #expect(bench.handler.modifyCalls[1].token != bench.handler.modifyCalls[2].token)
    #expect(bench.completions.entries.count == 2)
  }
}

@Suite("CloudSyncSession, waiting")
struct SessionWaitingTests {
  @Test("Waiting for a session that is stopped ends at once, and says no")
  func stopped() async throws {
    let bench = SessionHarness()
    bench.start()
    bench.session.stop()
    try bench.modify([SessionHarness.record("a")])
    bench.world.run()

    let session = bench.session
    async let isIdle = session.idle(upTo: .seconds(60))
    async let outcome = session.fetchNow(upTo: .seconds(60))
    let driver = Task { [world = bench.world] in
      while !Task.isCancelled {
        world.run()
        await Task.yield()
      }
    }
    let results = await (isIdle, outcome)
    driver.cancel()

    #expect(results.0 == false)
    #expect(results.1 == .failed)
    #expect(bench.state.fetchQueue.count == 1)
  }
}
