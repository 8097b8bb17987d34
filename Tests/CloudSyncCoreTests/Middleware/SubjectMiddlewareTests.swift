import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SubjectMiddleware")
struct SubjectMiddlewareTests {
  @Test("Every event is published once, in order, with number, time, origin and cause")
  func events() throws {
    let bench = SessionHarness()
    let spy = SpyMiddleware()
    bench.session.appendMiddleware(spy)
    try bench.modify([SessionHarness.record("a")])
    bench.session.fetch()
    bench.start()

    let records = bench.events.entries
    #expect(records.map(\.sequence) == Array(1...UInt64(records.count)))
    #expect(records.map(\.event) == spy.sights.entries.map(\.reduced))
    #expect(records.allSatisfy { $0.time == bench.world.now })
    #expect(records.filter { $0.origin == .middleware }.allSatisfy { $0.cause != nil })
    for record in records where record.cause != nil {
      #expect(record.cause ?? .max < record.sequence)
    }
    // A response's cause is the request that it answers.
    for record in records where record.origin == .handler {
      let cause = records.first { $0.sequence == record.cause }
      #expect(cause?.event.name == "startWork")
    }
  }

  @Test("A subscriber sees the state after the event, and every state that changed")
  func states() throws {
    let bench = SessionHarness()
    let counts = Collector<UInt64>()
    let seen = Collector<Bool>()
    bench.session.statePublisher.sink { counts.add($0.eventCount) }
    bench.session.modifyWorkCompletedSubject.sink { [session = bench.session] operation, _ in
      seen.add(!session.state.modifyQueue.contains { $0.id == operation.id })
    }
    try bench.modify([SessionHarness.record("a")])
    bench.start()

    #expect(seen.entries == [true])
    #expect(
      counts.entries == counts.entries.sorted() && Set(counts.entries).count == counts.entries.count
    )
    #expect(counts.entries.last == bench.state.eventCount)
  }

  @Test("Completions, pages and failures are announced once, in the order of their submission")
  func announcements() throws {
    let bench = SessionHarness(
      script: .init(fetch: { operation, number in
        number == 0
          ? .failure(.permissionFailure)
          : .success(.init(changeToken: ChangeToken(text: "t\(number)"), hasMore: number < 3))
      })
    )
    for number in 0..<5 { try bench.modify([SessionHarness.record("r\(number)")]) }
    bench.session.fetch()
    bench.start()
    bench.session.fetch()
    bench.world.run()

    #expect(bench.completions.entries.map(\.id.number) == [1, 2, 3, 4, 5])
    #expect(bench.failures.entries.map(\.error.code) == [.permissionFailure])
    #expect(bench.pages.entries.map(\.isLast) == [false, false, true])
    #expect(bench.pages.entries.map(\.page.number) == [1, 2, 3])
  }

  @Test("Being stopped is published with its reason, working again as nil")
  func halts() throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        number == 0
          ? .after(.seconds(1), .failure(SyncError(.internalError)))
          : .success(ScriptedHandler.allSaved(operation))
      })
    )
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.session.stop()
    bench.world.run()
    bench.session.stop()
    bench.world.advance(by: .seconds(5))
    bench.session.start()
    bench.world.run()
    bench.session.start()
    bench.world.run()

    // The response that came after the stop gives a new reason.
    #expect(bench.halts.entries.map { $0?.code } == [nil, .stopped, .internalError, nil])
    #expect(bench.completions.entries.count == 1)
  }

  @Test("The zone's state and the progress are published when they change")
  func zoneAndProgress() throws {
    let zones = Collector<String>()
    let progress = Collector<SyncProgress>()
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        number == 0
          ? .failure(.zoneNotFound) : .success(ScriptedHandler.allSaved(operation))
      })
    )
    bench.session.zoneSubject.sink { zone in
      switch zone {
      case .unknown: zones.add("unknown")
      case .creating(let loss): zones.add(loss == nil ? "creating" : "recreating")
      case .ready: zones.add("ready")
      case .lost: zones.add("lost")
      case .refused: zones.add("refused")
      }
    }
    bench.session.progressSubject.sink { progress.add($0) }
    try bench.modify([SessionHarness.record("a"), SessionHarness.record("b")])
    bench.start()

    #expect(zones.entries == ["creating", "ready", "recreating", "ready"])
    #expect(progress.entries.map(\.submitted) == [2, 2])
    #expect(progress.entries.map(\.done) == [0, 2])
    #expect(progress.entries.map(\.waiting) == [2, 0])
  }

  @Test("An event that changes nothing is published as an event and as nothing else")
  func nothingChanged() throws {
    let bench = SessionHarness()
    bench.start()
    let states = Collector<UInt64>()
    bench.session.statePublisher.sink { states.add($0.eventCount) }
    let events = bench.events.entries.count

    bench.session.retryParked()
    bench.session.cancel(OperationID(epoch: 1, number: 99))
    bench.world.run()

    #expect(bench.events.entries.count == events + 2)
    #expect(states.entries.count == 1)
  }
}
