import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("ErrorTable, what the server asks to wait")
struct RetryAfterTests {
  /// A session whose first modification is answered with an error, then everything is done.
  private func bench(
    _ error: SyncError,
    asFailures: Bool = false
  ) throws -> SessionHarness {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      guard number == 0 else { return .success(ScriptedHandler.allSaved(operation)) }
      guard asFailures else { return .failure(error) }
      return .success(.init(failures: error.itemErrors))
    }
    let bench = SessionHarness(script: script)
    try bench.modify([
      SessionHarness.record("a"), SessionHarness.record("b"), SessionHarness.record("c"),
    ])
    bench.start()
    return bench
  }

  /// The time between the first two modifications.
  private func firstPause(of bench: SessionHarness) -> Duration? {
    let times = bench.handler.modifyCalls.map(\.time)
    return times.count < 2 ? nil : .nanoseconds(times[0].distance(to: times[1]))
  }

  private func item(_ name: String, _ code: SyncError.Code, _ wait: Duration?) -> ItemFailure {
    ItemFailure(SessionHarness.id(name), SyncError(code, retryAfter: wait))
  }

  @Test("The longest wait of a partial failure and its items counts", arguments: [false, true])
  func longest(asFailures: Bool) throws {
    let error = SyncError(
      .partialFailure,
      retryAfter: .seconds(20),
      itemErrors: [
        item("a", .serverRejectedRequest, .seconds(10)), item("b", .zoneBusy, .seconds(90)),
        item("c", .batchRequestFailed, .seconds(40)),
      ]
    )
    let bench = try bench(error, asFailures: asFailures)

    bench.world.advance(by: .seconds(600))

    let pause = try #require(firstPause(of: bench))
    #expect(pause >= .seconds(90) && pause <= .seconds(102))
  }

  @Test("The wait of the partial failure itself counts")
  func outer() throws {
    let error = SyncError(
      .partialFailure,
      retryAfter: .seconds(120),
      itemErrors: [item("a", .serverRejectedRequest, nil), item("b", .batchRequestFailed, nil)]
    )
    let bench = try bench(error)

    bench.world.advance(by: .seconds(600))

    #expect(try #require(firstPause(of: bench)) >= .seconds(120))
  }

  @Test("Neither start, stop, new work nor the network's return undercuts the wait; retryNow does")
  func triggers() throws {
    let bench = try bench(SyncError(.internalError, retryAfter: .seconds(600)))
    #expect(bench.state.isHalted)

    for _ in 0..<10 {
      bench.session.start()
      bench.session.connectivityChanged()
      try bench.modify([SessionHarness.record("d")])
      bench.session.fetch()
      bench.session.stop()
      bench.session.start()
      bench.world.advance(by: .seconds(50))
    }
    #expect(bench.handler.modifyCalls.count == 1 && bench.handler.fetchCalls.isEmpty)
    #expect(bench.session.explain().reasons.contains(.gate))

    bench.session.retryNow()
    bench.world.run()

    #expect(bench.handler.modifyCalls.count == 2)
    #expect(bench.state.hasWorkQueued == false)
  }

  @Test("A wait that repeats grows, to the session's cap and no further")
  func growth() throws {
    var script = ScriptedHandler.Script()
    script.modify = { _, _ in .failure(.requestRateLimited, retryAfter: .seconds(30)) }
    let bench = SessionHarness(script: script)
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    bench.world.advance(by: .seconds(7_200))

    let times = bench.handler.modifyCalls.map(\.time)
    let gaps = zip(times, times.dropFirst()).map { $0.distance(to: $1) / 1_000_000_000 }
    let floors: [Int64] = [30, 60, 120, 240, 480, 600, 600]
    for (gap, floor) in zip(gaps, floors) { #expect((floor...floor * 9 / 8 + 1).contains(gap)) }
    #expect(gaps.count > floors.count)
  }

  @Test("A wait beyond a day is cut to a day, then the server is asked again")
  func longerThanADay() throws {
    let bench = try bench(SyncError(.requestRateLimited, retryAfter: .seconds(10_000_000)))

    bench.world.advance(by: .seconds(86_399))
    #expect(bench.handler.modifyCalls.count == 1)
    bench.world.advance(by: .seconds(86_400 / 8 + 2))

    #expect(bench.handler.modifyCalls.count == 2)
  }

  @Test("A record of a page that asks for a wait holds back the next page")
  func page() throws {
    var script = ScriptedHandler.Script()
    script.fetch = { _, number in
      .success(
        .init(
          failures: number > 0
            ? []
            : [ItemFailure(SessionHarness.id("x"), SyncError(.zoneBusy, retryAfter: .seconds(30)))],
          changeToken: ChangeToken(text: "t\(number)"),
          hasMore: number == 0
        )
      )
    }
    let bench = SessionHarness(script: script)
    bench.start()
    bench.session.fetch()
    bench.world.advance(by: .seconds(29))
    #expect(bench.pages.entries.count == 1)

    bench.world.advance(by: .seconds(6))

    #expect(bench.pages.entries.map(\.isLast) == [false, true])
  }

  @Test("Sessions that share a gate wait together, whatever the error that asked for it")
  func sharedGate() throws {
    for code in [SyncError.Code.zoneBusy, .limitExceeded, .serverRejectedRequest, .internalError] {
      let gate = SyncGate()
      let world = VirtualEnvironment()
      let script = ScriptedHandler.Script(modify: { operation, number in
        number == 0 && operation.records.first?.recordID.name == "a"
          ? .failure(code, retryAfter: .seconds(60))
          : .success(ScriptedHandler.allSaved(operation))
      })
      let handlers = (0..<2).map { _ in ScriptedHandler(in: world, script: script) }
      let sessions = handlers.map { handler in
        CloudSyncSession(
          operationHandler: handler,
          zoneID: SessionHarness.zoneID,
          gate: gate,
          environment: world.environment
        )
      }
      for session in sessions { session.start() }
      world.run()

      try sessions[0]
        .modify(ModifyOperation(records: [SessionHarness.record("a"), SessionHarness.record("b")]))
      world.run()
      try sessions[1].modify(ModifyOperation(records: [SessionHarness.record("c")]))
      world.advance(by: .seconds(59))
      #expect(handlers[1].modifyCalls.isEmpty, "\(code)")
      world.advance(by: .seconds(30))

      #expect(handlers[1].modifyCalls.count == 1, "\(code)")
      // Nobody else keeps them.
      withExtendedLifetime(sessions) {}
    }
  }
}
