import CloudSyncCore
import CloudSyncTestSupport
import Testing

extension RetryAndWaitTests {
  // MARK: The server's word

  @Test("A rate limit holds across stop and start, and nothing is sent again after success")
  func rateLimitAndRestart() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .failure(.requestRateLimited, retryAfter: .milliseconds(1_500))
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    for _ in 0..<3 {
      bench.world.advance(by: .milliseconds(400))
      bench.session.stop()
      bench.session.start()
      bench.session.connectivityChanged()
      bench.session.accountDidChange()
      bench.session.fetch()
      bench.world.run()
    }
    #expect(bench.handler.calls.count == 3)
    #expect(bench.world.runToEnd())

    let times = bench.handler.modifyCalls.map(\.time)
    #expect(times.count == 2)
    #expect(times[0].distance(to: times[1]) >= 1_500_000_000)
    #expect(bench.completions.entries.count == 1)
  }

  @Test("A wait of a day is obeyed, a longer one is asked about after a day")
  func longestWait() throws {
    for (asked, least) in [(86_400, 86_400), (200_000, 86_400), (3_600, 3_600)] {
      var script = ScriptedHandler.Script()
      script.modify = { operation, number in
        number == 0
          ? .failure(.requestRateLimited, retryAfter: .seconds(asked))
          : .success(ScriptedHandler.allSaved(operation))
      }
      let bench = SessionHarness(script: script)
      bench.start()
      try bench.modify([.note("r", 1)])
      #expect(bench.world.runToEnd(limit: .seconds(300_000)))

      let times = bench.handler.modifyCalls.map(\.time)
      let wait = times[0].distance(to: times[1]) / 1_000_000_000
      #expect(wait >= least && wait <= min(86_400, least * 9 / 8))
      #expect(bench.completions.entries.count == 1)
    }
  }

  @Test(
    "A wait that zone or subscription are told to make holds everything",
    arguments: [OperationMode.createZone, .createSubscription]
  )
  func waitOfZone(mode: OperationMode) throws {
    var script = ScriptedHandler.Script()
    let answer: @Sendable (OperationMode, Int) -> ScriptedHandler.Reply<Bool> = { asked, number in
      asked == mode && number == 0
        ? .failure(.serviceUnavailable, retryAfter: .seconds(30)) : .success(true)
    }
    script.createZone = { answer(.createZone, $0) }
    script.createSubscription = { answer(.createSubscription, $0) }
    let bench = SessionHarness(script: script)
    try bench.modify([.note("r", 1)])
    bench.start()
    let before = bench.handler.calls.count
    bench.world.advance(by: .seconds(29))
    #expect(bench.handler.calls.count == before)
    #expect(bench.session.explain().reasons == .gate)

    #expect(bench.world.runToEnd())
    #expect(bench.completions.entries.count == 1)
    #expect(bench.handler.calls.count { $0.mode == mode } == 2)
  }

  // MARK: The session's own waits

  @Test("A device that is offline for hours never halts, and its waits grow to their cap")
  func offline() throws {
    var script = ScriptedHandler.Script()
    let isOffline = Locked(true)
    script.modify = { operation, _ in
      isOffline.withLock { $0 }
        ? .failure(.networkUnavailable) : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(36_000))

    let times = bench.handler.modifyCalls.map(\.time)
    let waits = zip(times, times.dropFirst()).map { $0.distance(to: $1) / 1_000_000 }
    #expect(bench.state.isHalted == false)
    #expect(waits[0] >= 500 && waits[0] <= 1_000)
    #expect(waits.allSatisfy { $0 <= 600_000 })
    #expect(waits.suffix(10).allSatisfy { $0 >= 300_000 })
    #expect(Set(waits.suffix(10)).count > 5, "jitter")

    isOffline.withLock { $0 = false }
    bench.session.connectivityChanged()
    bench.world.run()
    #expect(bench.completions.entries.count == 1)
  }

  @Test("Devices that failed together do not return together")
  func jitter() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .failure(.networkFailure) : .success(ScriptedHandler.allSaved(operation))
    }
    var waits: Set<Int64> = []
    for earlier in 0..<8 {
      let bench = SessionHarness(script: script)
      // Every session has a nonce of its own.
      for _ in 0..<earlier { bench.session.reset() }
      bench.start()
      try bench.modify([.note("r", 1)])
      bench.world.runToEnd()
      let times = bench.handler.modifyCalls.map(\.time)
      waits.insert(times[0].distance(to: times[1]))
    }
    #expect(waits.count == 8)
  }

  @Test("A start after many failures begins the waits afresh, and halts nothing")
  func startAfterFailures() throws {
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in .failure(.networkFailure) }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.advance(by: .seconds(3_600))
    let before = bench.handler.modifyCalls.count
    bench.session.stop()
    bench.start()
    bench.world.advance(by: .seconds(10))

    #expect(bench.handler.modifyCalls.count >= before + 3)
    #expect(bench.state.isHalted == false)
  }

  @Test("After a thousand successes the first rate limit is obeyed as if it were the first")
  func noWindUp() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 1_000
        ? .failure(.requestRateLimited, retryAfter: .seconds(5))
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    for index in 0...1_000 {
      try bench.modify([.note("r", index)])
      bench.world.run()
    }
    #expect(bench.world.elapsed == .zero)
    #expect(bench.completions.entries.count == 1_000)
    bench.world.advance(by: .milliseconds(4_999))
    #expect(bench.handler.modifyCalls.count == 1_001)
    bench.world.advance(by: .seconds(2))
    #expect(bench.completions.entries.count == 1_001)
  }

  @Test("Thirty operations over a cloud that answers at once wait for nothing")
  func noFixedDelay() throws {
    let bench = CloudHarness()
    bench.start()
    for index in 0..<30 {
      try bench.modify([.note("r\(index)", 1)])
      bench.world.run()
    }

    #expect(bench.world.elapsed == .zero)
    #expect(bench.completions.entries.count == 30)
  }

  // MARK: Partial failures

  @Test(
    "A partial failure means what its items say",
    arguments: [
      [SyncError.Code.zoneNotFound, .zoneNotFound], [.zoneNotFound, .batchRequestFailed],
      [.requestRateLimited, .batchRequestFailed], [.serviceUnavailable, .serviceUnavailable],
      [.networkFailure, .networkFailure], [.zoneBusy, .batchRequestFailed],
      [.operationCancelled, .batchRequestFailed],
      [.accountTemporarilyUnavailable, .batchRequestFailed],
    ]
  )
  func partialFailure(codes: [SyncError.Code]) throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .items([("a", codes[0]), ("b", codes[1])])
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("a", 1), .note("b", 1)])
    #expect(bench.world.runToEnd())

    let creations = bench.handler.calls.count { $0.mode == .createZone }
    #expect(creations == (codes[0] == .zoneNotFound ? 2 : 1))
    #expect(bench.state.isHalted == false)
    #expect(bench.handler.modifyCalls.map(\.names) == [["a", "b"], ["a", "b"]])
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [2])
    let waited = bench.handler.modifyCalls[0].time.distance(to: bench.handler.modifyCalls[1].time)
    #expect(codes[0] == .zoneNotFound || waited >= 500_000_000)
  }

  @Test("When every item is refused for another one, the culprit is searched for")
  func noCulprit() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      number == 0
        ? .items([("a", .batchRequestFailed), ("b", .batchRequestFailed)])
        : .success(ScriptedHandler.allSaved(operation))
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("a", 1), .note("b", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.handler.modifyCalls.map(\.names) == [["a", "b"], ["a"], ["b"]])
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [2])
  }

  @Test("A record that is too large inside a partial failure is parked, its neighbour saved")
  func tooLargeInside() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      guard operation.records.contains(where: { $0.recordID.name == "big" }) else {
        return .success(ScriptedHandler.allSaved(operation))
      }
      return .items(
        operation.records.map {
          ($0.recordID.name, $0.recordID.name == "big" ? .limitExceeded : .batchRequestFailed)
        }
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    try bench.modify([.note("a", 1), .note("big", 1), .note("c", 1)])
    #expect(bench.world.runToEnd())

    #expect(bench.state.isHalted == false)
    #expect(bench.completions.entries.map(\.response.unsaved) == [[SessionHarness.id("big")]])
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [2])
    #expect(bench.handler.modifyCalls.count <= 4)
  }
}
