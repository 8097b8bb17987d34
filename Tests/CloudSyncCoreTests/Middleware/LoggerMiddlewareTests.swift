import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("LoggerMiddleware")
struct LoggerMiddlewareTests {
  /// Adds a second logger, under another name, that writes into a journal.
  private struct Named: Middleware {
    let name = "TestLogger"
    let logger: LoggerMiddleware

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      logger.run(event: event, context: context, next: next)
    }
  }

  private func logged(_ body: (SessionHarness) throws -> Void) rethrows -> [String] {
    let lines = Collector<String>()
    let bench = SessionHarness(
      script: .init(
        modify: { operation, number in
          if number == 0 { return .failure(.networkFailure) }
          let failures = operation.records
            .map { ItemFailure($0.recordID, SyncError(.invalidArguments, "secret message")) }
          return .success(.init(failures: failures))
        },
        fetch: { _, _ in .failure(.changeTokenExpired) }
      )
    )
    bench.session.appendMiddleware(Named(logger: LoggerMiddleware { lines.add($0) }))
    try body(bench)
    return lines.entries
  }

  private func everything(_ bench: SessionHarness) throws {
    try bench.session.modify(
      ModifyOperation(
        records: [SessionHarness.record("secretname", ["secretfield": "secret value"])],
        userInfo: ["secretkey": "secret info"]
      )
    )
    bench.start()
    bench.session.fetch()
    bench.session.connectivityChanged()
    bench.world.advance(by: .seconds(60))
    bench.session.dropParked()
    bench.session.stop()
    bench.session.reset()
    bench.world.run()
  }

  @Test("It writes one line for each event, with number, origin and cause")
  func lines() throws {
    var count = 0
    let lines = try logged { bench in
      try everything(bench)
      count = Int(bench.state.eventCount)
    }

    #expect(lines.count == count)
    for (number, line) in lines.enumerated() {
      #expect(line.hasPrefix("#\(number + 1) ") && !line.contains("\n"))
    }
    #expect(lines.contains { $0.contains("middleware after #") && $0.contains("startWork modify") })
    #expect(lines.contains { $0.contains("retry 1.3: networkFailure; retries in ") })
    #expect(lines.contains { $0.contains("halt stopped") })
  }

  @Test("No line shows what the app's records hold, nor their names, nor messages")
  func noValues() throws {
    let lines = try logged(everything)

    #expect(lines.allSatisfy { !$0.contains("secret") })
  }

  @Test("Every kind of event has a line of its own that begins with its name")
  func everyEvent() {
    let attempt = Attempt(epoch: 1, number: 2)
    let error = SyncError(.zoneBusy, "secret")
    let events: [SyncEvent] = [
      .start, .halt(error), .reset(nonce: 1),
      .restored(nonce: 1, configuration: SyncConfiguration()),
      .doWork(.fetch(FetchOperation())), .doWork(.modify(ModifyOperation())),
      .doWork(.createZone(CreateZoneOperation(zoneID: SessionHarness.zoneID))),
      .cancel(OperationID(epoch: 1, number: 1)), .retryNow, .connectivityChanged,
      .retryParked(nil), .dropParked([SessionHarness.id("secret")]),
      .acknowledge(PageID(number: 1), .stored), .accountDidChange,
      .resolveAccountSwitch(.wait, nonce: 1), .decideZone(.recreate), .accountProviderAttached,
      .accountCheckStarted, .accountStatusChanged(.available, nil), .gateClosed(Wait(.service)),
      .delivered(upTo: 3), .woke, .startWork(SyncRequest(mode: .modify)),
      .retryWork(SyncRequest(mode: .modify)), .workSuccess(attempt, .createZone(true)),
      .workFailure(attempt, error), .settleItems(attempt, Settlement(error: error)),
      .resolveConflict(attempt, Settlement()),
      .retry(attempt, Retry(error: error, wait: Wait(.service))),
      .split(attempt, Split(error: error, isTooLarge: true)), .startOver(attempt, nil, error),
      .failFetch(attempt, error), .noop,
      .workDropped(.modify(ModifyOperation(recordIDsToDelete: [SessionHarness.id("secret")]))),
    ]

    for event in events {
      #expect(event.line.hasPrefix(event.name), "\(event.name)")
      #expect(!event.line.contains("secret"))
    }
    #expect(Set(events.map(\.name)).count == 32)
  }

  @Test("Without a sink it writes nothing and passes everything on")
  func noSink() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(Named(logger: LoggerMiddleware(sink: nil)))
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    #expect(bench.completions.entries.count == 1)
  }
}
