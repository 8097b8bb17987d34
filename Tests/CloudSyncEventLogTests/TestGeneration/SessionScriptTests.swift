import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLogTestGeneration
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("SessionScript")
struct SessionScriptTests {
  /// Expects that a log's script does what was recorded.
  private func expectFaithful(
    _ log: EventLog,
    to location: SourceLocation = #_sourceLocation
  ) throws {
    let recorded = try SessionScript.Outcome(log)
    let played = try SessionScript(log).run()

    #expect(played.finalError == recorded.finalError, sourceLocation: location)
    #expect(played.completions == recorded.completions, sourceLocation: location)
    #expect(played.state.progress == recorded.state.progress, sourceLocation: location)
    #expect(!played.isCutOff, sourceLocation: location)
  }

  @Test("The script of an eventful run ends as the recording did, value by value")
  func eventfulRun() throws {
    let log = try ScriptHarness.eventfulLog()
    try expectFaithful(log)
    let recorded = try SessionScript.Outcome(log)
    let played = try SessionScript(log).run()

    #expect(recorded.completions.count == 23)
    #expect(recorded.finalError != nil)
    #expect(played.eventCount == recorded.eventCount)
    #expect(played.state == recorded.state)
  }

  @Test("What the app looked up is looked up by the script, be it nothing")
  func lookUps() throws {
    let log = try ScriptHarness.log(SessionHarness()) { bench in
      bench.start()
      bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("a")]))
      bench.session.fetch(FetchOperation(lookingUp: []))
      bench.session.fetch()
      bench.world.advance(by: .seconds(1))
    }
    try expectFaithful(log)
    let played = try SessionScript(log).run()
    #expect(try played.eventCount == SessionScript.Outcome(log).eventCount)
  }

  @Test("A look-up at which the session halts is in the test that is made of it")
  func haltingLookUp() throws {
    let script = ScriptedHandler.Script(fetch: { _, _ in .failure(SyncError(.badContainer)) })
    let log = try ScriptHarness.log(SessionHarness(script: script)) { bench in
      bench.start()
      bench.session.fetch(FetchOperation(lookingUp: [SessionHarness.id("a")]))
      bench.world.advance(by: .seconds(1))
    }
    try expectFaithful(log)
    let source = try TestGenerator.swiftTest(for: log, name: "Look-ups")
    #expect(source.contains("FetchOperation(lookingUp: ["))
  }

  @Test("A script plays the same way every time")
  func deterministic() throws {
    let script = try SessionScript(ScriptHarness.eventfulLog())

    let (first, second) = (try script.run(), try script.run())

    #expect(first.state == second.state)
    #expect(first.completions == second.completions)
  }

  @Test("The script of a redacted log ends as the recording did")
  func redactedRun() throws {
    try expectFaithful(ScriptHarness.eventfulLog(redactor: .digests(salt: 7)))
    let log = try ScriptHarness.hostileLog(redactor: .digests(salt: 7))
    try expectFaithful(log)
    #expect(try SessionScript(log).redaction == .digests)
  }

  @Test("Conflicts, ancestors, expired tokens and values of every kind come back as they were")
  func everyValue() throws {
    let log = try ScriptHarness.hostileLog(redactor: .none)
    try expectFaithful(log)
    let script = try SessionScript(log)

    #expect(script.decisions.count == 2)
    #expect(try SessionScript.Outcome(log).finalError == .unknown(77))
    #expect(try script.run().state == log.state(at: log.lastFoldedSequence))
  }

  @Test("A log that begins within a session's life gives a script that restores it")
  func restored() throws {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      .after(
        .seconds(2),
        number == 2
          ? .failure(SyncError(.permissionFailure))
          : .success(ScriptedHandler.allSaved(operation))
      )
    }
    let log = try ScriptHarness.log(SessionHarness(limits: RequestLimits(items: 1), script: script))
    { bench in
      bench.start()
      for index in 0..<4 { try bench.modify([.note("r\(index)", index)]) }
      bench.world.advance(by: .seconds(1))
    } _: { bench in
      bench.session.cancel(OperationID(epoch: 1, number: 4))
      bench.world.advance(by: .seconds(20))
    }
    let made = try SessionScript(log)
    guard case .snapshot = made.beginning else {
      Issue.record("the session is not restored")
      return
    }
    try expectFaithful(log)
    let outcome = try made.run()

    #expect(outcome.finalError == .permissionFailure)
    #expect(outcome.completions.map(\.operation.number) == [4, 1, 2, 3])
    #expect(outcome.completions.map(\.error) == [.cancelled, nil, nil, nil])
    #expect(outcome.completions.map(\.unsaved.count) == [1, 0, 0, 1])
  }

  @Test("Calls of every kind are played")
  func everyCall() throws {
    let account = Locked(0)
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      switch number {
      case 0: .items([("bad", .invalidArguments)])
      case 1: .never
      default: .after(.milliseconds(10), .success(ScriptedHandler.allSaved(operation)))
      }
    }
    var configuration = SyncConfiguration()
    configuration.acknowledgesPages = true
    configuration.timeout = .seconds(30)
    let log = try ScriptHarness.log(SessionHarness(configuration: configuration, script: script)) {
      bench in
      let session = bench.session
      session.appendMiddleware(
        AccountStatusMiddleware { completion in
          let count = account.withLock { count in
            count += 1
            return count
          }
          completion(.available, AccountIdentity(count < 3 ? "a" : "b"))
        }
      )
      bench.start()
      try bench.modify([.note("bad", 1)])
      bench.world.run()
      session.retryParked()
      bench.world.advance(by: .seconds(40))
      session.fetch()
      bench.world.run()
      session.acknowledge(PageID(number: 1), .stored)
      session.connectivityChanged()
      session.accountDidChange()
      bench.world.run()
      let id = try bench.modify([.note("given up", 1)])
      session.stop()
      session.cancel(id)
      session.accountDidChange()
      session.start()
      bench.world.run()
      session.resolveAccountSwitch(.adopt)
      try bench.modify([.note("c", 1)])
      session.retryNow()
      session.dropParked([SessionHarness.id("c")])
      session.decideZone(.recreate)
      bench.world.advance(by: .seconds(1))
      session.reset()
      session.start()
      try bench.modify([.note("d", 1)], delete: ["e"])
      bench.world.advance(by: .seconds(1))
    }
    try expectFaithful(log)
    let state = try SessionScript(log).run().state
    #expect(LogDigest.of(state) == LogDigest.of(try log.state(at: log.lastFoldedSequence)))
  }

  @Test("A wait of the shared gate, written by hand, keeps the session from sending")
  func closedGate() throws {
    var wait = Wait(.service, serverNanoseconds: 60_000_000_000)
    wait.nanoseconds = 60_000_000_000
    var script = SessionScript(zoneID: SessionHarness.zoneID)
    script.at(.zero, .start)
    script.after(.seconds(1), .closeGate(wait))
    script.at(.seconds(2), .modify(ModifyOperation(records: [.note("a", 1)])))
    script.duration = .seconds(60)

    #expect(try script.run().completions.isEmpty)
    script.duration = nil
    #expect(try script.run().completions.count == 1)
  }

  @Test("A call that breaks a rule is an error that names it")
  func brokenRule() throws {
    var script = SessionScript(zoneID: ZoneID(name: "Other"))
    script.at(.zero, .modify(ModifyOperation(records: [.note("a", 1)])))

    let error = try #require(throws: LogError.self) { try script.run() }

    #expect(error.code == .script)
    #expect(error.reason.contains("Notes/a"), "\(error)")
  }

  @Test("A snapshot that cannot be read is an error")
  func brokenSnapshot() throws {
    let error = try #require(throws: LogError.self) {
      try SessionScript(snapshot: Data([9, 9])).run()
    }

    #expect(error.code == .script)
  }

  @Test("A script that goes round in circles is given up")
  func endlessScript() throws {
    var script = SessionScript(zoneID: SessionHarness.zoneID)
    script.at(.zero, .start)
    for _ in 0..<500 {
      script.answer(.createZone(.failure(SyncError(.networkFailure))), after: .seconds(1))
    }
    script.eventLimit = 100

    let outcome = try script.run()

    #expect(outcome.isCutOff)
    #expect((100..<110).contains(outcome.eventCount))
  }
}
