import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SyncGate")
struct SyncGateTests {
  private let gate = SyncGate()
  private let world = VirtualEnvironment()

  /// A session of the account, over a handler whose first modification is answered as given.
  private func session(
    first error: SyncError? = nil,
    restoring archive: SyncArchive? = nil
  ) -> (CloudSyncSession, ScriptedHandler) {
    let script = ScriptedHandler.Script(modify: { operation, number in
      if number == 0, let error { return .failure(error) }
      return .success(ScriptedHandler.allSaved(operation))
    })
    let handler = ScriptedHandler(in: world, script: script)
    return (member(over: handler, archive), handler)
  }

  /// A session that was asked to wait for a minute.
  private func askedSession() throws -> CloudSyncSession {
    let busy = SyncError(.requestRateLimited, retryAfter: .seconds(60))
    let (session, _) = session(first: busy)
    session.start()
    try session.modify(ModifyOperation(records: [SessionHarness.record("a")]))
    world.run()
    return session
  }

  /// Starts a session with work, and tells how long after that it made its first request.
  private func delay(of session: CloudSyncSession, over handler: ScriptedHandler) throws -> Duration
  {
    let elapsed = world.elapsed
    session.start()
    try session.modify(ModifyOperation(records: [SessionHarness.record("b")]))
    while handler.modifyCalls.isEmpty, world.elapsed - elapsed < .seconds(100_000) {
      world.advance(by: .seconds(1))
    }
    return world.elapsed - elapsed
  }

  @Test("A session that is made after another was asked to wait waits for the rest")
  func joinsLater() throws {
    let asked = try askedSession()
    world.advance(by: .seconds(20))
    let (late, handler) = session()

    let waited = try delay(of: late, over: handler)

    #expect(waited >= .seconds(40))
    #expect(waited <= .seconds(50))
    #expect(asked.state.isHalted == false)
  }

  @Test("When the wait is over, a new session sends at once")
  func joinsAfterwards() throws {
    let asked = try askedSession()
    world.advance(by: .seconds(70))
    let (late, handler) = session()

    #expect(try delay(of: late, over: handler) <= .seconds(1))
    #expect(asked.state.isHalted == false)
  }

  @Test("The gate remembers although the session that was asked is gone")
  func outlivesSession() throws {
    _ = try askedSession()
    let (late, handler) = session()

    #expect(try delay(of: late, over: handler) >= .seconds(59))
  }

  @Test(
    "A clock that is set while the gate is closed costs at most one more wait",
    arguments: [-86_400, -3_600, 3_600]
  )
  func clockIsSet(seconds: Int) throws {
    let asked = try askedSession()
    world.jumpClock(by: .seconds(seconds))
    let (late, handler) = session()

    let waited = try delay(of: late, over: handler)

    #expect(waited <= .seconds(70))
    if seconds < 0 { #expect(waited >= .seconds(59)) }
    #expect(asked.state.isHalted == false)
  }

  @Test("A restored session that is asked to wait closes the gate for the others")
  func restored() throws {
    let asked = try askedSession()
    let bytes = Collector<SyncArchive>()
    asked.snapshot { if let archive = try? SyncArchive($0) { bytes.add(archive) } }
    world.run()
    let archive = try #require(bytes.entries.first)
    // Another process: the gate knows nothing.
    let next = SyncGateTests()
    let (restored, _) = next.session(restoring: archive)
    let (other, handler) = next.session()

    #expect(try next.delay(of: other, over: handler) >= .seconds(59))
    #expect(restored.state.isHalted == false)
  }

  @Test(
    "However sessions come, go, are restored and asked to wait, none sends while the account waits",
    arguments: 0..<6 as Range<UInt64>
  )
  func anyOrder(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let answers = Locked(SplitMix64(seed: seed &+ 1_000))
    let isHealed = Locked(false)
    let closed = Locked((at: Duration.zero, until: Duration.zero))
    let early = Collector<String>()
    let script = ScriptedHandler.Script(modify: { [world] operation, _ in
      let (start, end) = closed.withLock { $0 }
      // At that very moment the others may have begun what was called before.
      if world.elapsed > start, world.elapsed < end {
        early.add("sent at \(world.elapsed), to wait from \(start) until \(end)")
      }
      let wait = answers.withLock { $0.chance(1, in: 2) ? $0.below(120) : 0 }
      guard wait > 0, isHealed.withLock({ $0 }) == false else {
        return .success(ScriptedHandler.allSaved(operation))
      }
      closed.withLock { closed in
        closed = (world.elapsed, max(closed.until, world.elapsed + .seconds(wait)))
      }
      return .failure(.requestRateLimited, retryAfter: .seconds(wait))
    })
    var sessions: [CloudSyncSession] = []
    let archives = Collector<SyncArchive>()
    for step in 0..<80 {
      switch random.below(6) {
      case 0:
        let archive = random.chance(1, in: 2) ? archives.entries.last : nil
        sessions.append(member(over: ScriptedHandler(in: world, script: script), archive))
        sessions.last?.start()
      case 1 where !sessions.isEmpty:
        let session = sessions.remove(at: random.below(sessions.count))
        session.snapshot { if let archive = try? SyncArchive($0) { archives.add(archive) } }
        world.run()
      case 2: world.jumpClock(by: .seconds(-random.below(7_200)))
      case 3: world.advance(by: .seconds(random.below(90)))
      default:
        guard !sessions.isEmpty else { continue }
        let session = sessions[random.below(sessions.count)]
        try session.modify(ModifyOperation(records: [SessionHarness.record("r\(step)")]))
        if random.chance(1, in: 2) { world.run() }
      }
    }
    isHealed.withLock { $0 = true }
    world.advance(by: .seconds(90_000))
    #expect(early.entries == [])
    #expect(sessions.allSatisfy { $0.state.hasWorkQueued == false })
    #expect(closed.withLock { $0.until } > .zero)
  }

  private func member(over handler: ScriptedHandler, _ archive: SyncArchive?) -> CloudSyncSession {
    guard let archive else {
      return CloudSyncSession(
        operationHandler: handler,
        zoneID: SessionHarness.zoneID,
        gate: gate,
        environment: world.environment
      )
    }
    return CloudSyncSession(
      restoring: archive,
      operationHandler: handler,
      gate: gate,
      environment: world.environment
    )
  }
}
