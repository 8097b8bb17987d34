import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

@Suite("Re-run")
struct RerunTests {
  /// A retry middleware that waits longer than the real one.
  private struct Patient: Middleware {
    let name = "RetryMiddleware"
    let inner = RetryMiddleware()

    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      inner.run(event: event, context: context) { event in
        guard case .retry(let attempt, var retry) = event, retry.error.code == .networkFailure
        else { return next(event) }
        retry.wait.nanoseconds = retry.wait.nanoseconds.map { $0 + 1_000_000_000 }
        return next(.retry(attempt, retry))
      }
    }
  }

  @Test("A log of today's code re-runs without a divergence", arguments: [false, true])
  func faithful(isRedacted: Bool) throws {
    let redactor = isRedacted ? Redactor.digests(salt: 7) : .none
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: redactor)
    let log = try EventLog(bytes: run.bytes)
    #expect(log.mismatch == nil)
    let result = try Replay.rerun(log)

    #expect(result.divergences.map(\.description) == [])
    #expect(result.eventCount == log.count)
    #expect(result.inputCount > 50)
    #expect(LogDigest.of(result.state) == LogDigest.of(run.state))
    if !isRedacted { #expect(result.state == run.state) }
  }

  /// Lets no edit and no fetch through.
  private struct Strict: Middleware {
    func run(
      event: SyncEvent,
      context: MiddlewareContext,
      next: (SyncEvent) -> SyncEvent
    ) -> SyncEvent {
      if case .doWork(.modify) = event { return next(.noop) }
      if case .doWork(.fetch) = event { return next(.connectivityChanged) }
      return next(event)
    }
  }

  @Test("A log tells what a middleware has dropped, and a re-run drops it again")
  func droppedWork() throws {
    let bench = SessionHarness()
    bench.session.appendMiddleware(Strict())
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.start()
    let fetch = bench.session.fetch()
    try bench.modify([SessionHarness.record("a")])
    bench.world.runToEnd()
    recorder.detach(from: bench.session)
    bench.world.runToEnd()
    let log = try EventLog(bytes: recorder.data(redactor: .none).map { Array($0) } ?? [])

    #expect(log.mismatch == nil)
    let result = try Replay.rerun(log, middleware: [Strict()])
    #expect(result.divergences.map(\.description) == [] && result.state == bench.state)
    // Also from the middle, where the chain is not joined but there.
    var options = Replay.Options()
    options.first = log.header.state.eventCount + 10
    let rest = try Replay.rerun(log, middleware: [Strict()], options: options)
    #expect(rest.divergences.map(\.description) == [] && rest.inputCount > 0)
    for (id, mode) in [(fetch, "fetch"), (OperationID(epoch: 1, number: 2), "modify")] {
      let kinds = try OperationHistory(of: id, in: log).entries.map(\.kind)
      #expect(kinds == [.cancelled, .givenUp, .announced], "\(mode)")
    }
    let statistics = try LogStatistics(of: log)
    #expect(statistics.openOperations == 0)
    #expect(statistics.failedOperations.map(\.count) == [2])
  }

  @Test("A changed middleware is caught at the exact event")
  func changedMiddleware() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .none)
    let log = try EventLog(bytes: run.bytes)
    var expected: UInt64?
    try log.forEachStep { (step) throws(LogError) in
      if case .retry(_, let retry) = step.record.event, retry.error.code == .networkFailure {
        expected = step.sequence
      }
      return expected == nil
    }
    let result = try Replay.rerun(log, middleware: [Patient()])

    #expect(result.divergences.count == 1)
    let divergence = try #require(result.divergences.first)
    #expect(divergence.sequence == expected)
    #expect(divergence.kind == .event)
    #expect(divergence.state?.path.hasPrefix("gate") == true, "\(divergence)")
  }

  @Test("A re-run that goes on finds every divergence, and begins anew from the log's state")
  func goesOn() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .none)
    let log = try EventLog(bytes: run.bytes)
    var expected: [UInt64] = []
    try log.forEachStep { (step) throws(LogError) in
      if case .retry(_, let retry) = step.record.event, retry.error.code == .networkFailure {
        expected.append(step.sequence)
      }
      return true
    }
    var options = Replay.Options()
    options.goesOn = true
    let result = try Replay.rerun(log, middleware: [Patient()], options: options)

    #expect(expected.count > 1)
    #expect(result.divergences.map(\.sequence) == expected)
  }

  @Test("A re-run may begin at any event")
  func fromAnyEvent() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .none)
    let log = try EventLog(bytes: run.bytes)
    let last = try #require(log.lastSequence)
    for first in stride(from: 1, to: last - 1, by: 17) {
      var options = Replay.Options()
      options.first = first
      let result = try Replay.rerun(log, options: options)
      #expect(result.divergences.map(\.description) == [], "from event \(first)")
      #expect(result.state == run.state)
    }
  }

  @Test("Without an input the rest goes another way, and nothing is compared")
  func skipping() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .none)
    let log = try EventLog(bytes: run.bytes)
    var submitted: UInt64?
    try log.forEachStep { (step) throws(LogError) in
      if step.input != nil, case .doWork(.modify) = step.record.event { submitted = step.sequence }
      return true
    }
    var options = Replay.Options()
    options.skipped = [try #require(submitted)]
    let result = try Replay.rerun(log, options: options)

    #expect(result.isWhatIf && !result.isFaithful)
    #expect(result.divergences.isEmpty)
    #expect(result.state.progress.done < run.state.progress.done)
  }

  @Test("A log that names a middleware of the app's says what to do")
  func unknownMiddleware() throws {
    struct Mine: Middleware {
      func run(
        event: SyncEvent,
        context: MiddlewareContext,
        next: (SyncEvent) -> SyncEvent
      ) -> SyncEvent {
        next(event)
      }
    }
    let bench = SessionHarness()
    bench.session.appendMiddleware(Mine())
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    let log = try EventLog(bytes: [UInt8](try #require(recorder.data(redactor: .none))))

    let error = try #require(throws: LogError.self) { try Replay.rerun(log) }
    #expect(error.code == .unknownMiddleware)
    #expect(error.reason.contains("“Mine”"))
    #expect(try Replay.rerun(log, middleware: [Mine()]).isFaithful)
  }

  @Test("A middleware that joins while it is recorded joins in the re-run")
  func joiningMiddleware() throws {
    let bench = SessionHarness()
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.start()
    try bench.modify([.note("r", 1)])
    bench.world.run()
    bench.session.appendMiddleware(AccountStatusMiddleware { $0(.available, AccountIdentity("a")) })
    bench.world.run()
    try bench.modify([.note("s", 1)])
    bench.session.accountDidChange()
    bench.world.run()
    let log = try EventLog(bytes: [UInt8](try #require(recorder.data(redactor: .none))))

    #expect(log.middleware(before: 1).count == 7)
    #expect(log.middleware(before: .max).last == "AccountStatusMiddleware")
    let result = try Replay.rerun(log)
    #expect(result.divergences.map(\.description) == [])
    #expect(result.state == bench.state)
  }
}
