import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// The only strong reference to a session, and what its operations came to.
private final class Owner: Sendable {
  let session: Locked<CloudSyncSession?>
  let endings = Locked<[Int: [SyncError.Code?]]>([:])

  init(_ session: CloudSyncSession) { self.session = Locked(session) }

  /// Drops the reference.
  func release() {
    let dropped = session.withLock { session in
      defer { session = nil }
      return session
    }
    _ = consume dropped
  }

  func submit(_ count: Int) throws {
    for number in 0..<count {
      let operation = ModifyOperation(records: [.note("r\(number)", number)])
      try session.withLock { $0 }?
        .modify(operation) { [endings] result in
          let code: SyncError.Code? =
            if case .failure(let error) = result { error.code } else { nil }
          endings.withLock { $0[number, default: []].append(code) }
        }
    }
  }

  /// Operations that did not end exactly once, by completion or by the session's release.
  func wrongs(of count: Int) -> [Int] {
    let endings = endings.withLock { $0 }
    return (0..<count)
      .filter {
        endings[$0] != [nil] && endings[$0] != [.sessionReleased]
      }
  }
}

/// A timer that tells when it is gone: a session frees it last.
private final class ReportingTimer: SyncTimer {
  private let timer: any SyncTimer
  private let onEnd: @Sendable () -> Void

  init(_ timer: any SyncTimer, onEnd: @escaping @Sendable () -> Void) {
    self.timer = timer
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  func schedule(after nanoseconds: Int64) { timer.schedule(after: nanoseconds) }
  func cancel() { timer.cancel() }
}

@Suite("Concurrency: release in the middle")
struct ConcurrencyReleaseTests {
  /// From where the last reference is dropped.
  private enum Place: Sendable, CaseIterable {
    case completion, modified, state, event, fetched, handlerCompletion, journal, snapshot
  }

  @Test("A session may be released from a callback", arguments: Place.allCases)
  private func fromCallback(_ place: Place) throws {
    let world = VirtualEnvironment()
    var options = StubCloud.Options()
    options.delay = .milliseconds(10)
    options.limits = RequestLimits(items: 2)
    let cloud = StubCloud(in: world, options: options) { number, _ in
      number % 3 == 2 ? .duplicate(again: .seconds(9)) : nil
    }
    let owner: Owner
    weak var released: CloudSyncSession?
    do {
      let session = CloudSyncSession(
        operationHandler: cloud,
        zoneID: SessionHarness.zoneID,
        environment: world.environment
      )
      owner = Owner(session)
      released = session
    }
    try owner.submit(9)
    owner.session.withLock { $0 }?.fetch()
    Self.release(owner, at: place, in: world)
    owner.session.withLock { $0 }?.start()
    world.runToEnd()
    let calls = cloud.calls.count
    world.advance(by: .seconds(100_000))

    #expect(released == nil)
    #expect(world.isIdle)
    #expect(cloud.calls.count == calls && calls < 8)
    #expect(owner.wrongs(of: 9) == [])
    #expect(cloud.violations == [])
  }

  /// Has the owner drop its session inside a callback, when the third request was sent.
  private static func release(_ owner: Owner, at place: Place, in world: VirtualEnvironment) {
    guard let session = owner.session.withLock({ $0 }) else { return }
    let release: @Sendable () -> Void = { owner.release() }
    switch place {
    case .completion:
      session.fetch { _ in release() }
    case .modified: session.modifyWorkCompletedSubject.sink { _ in release() }
    case .state: session.statePublisher.sink { if $0.isModifying { release() } }
    case .event: session.eventsPublisher.sink { if $0.sequence > 20 { release() } }
    case .fetched: session.fetchWorkCompletedSubject.sink { _ in release() }
    case .handlerCompletion:
      world.schedule(afterNanoseconds: 25_000_000) {
        // The last reference is one that somebody holds while a response is given.
        let last = owner.session.withLock { $0 }
        release()
        last?.retryNow()
      }
    case .journal: session.journal { if $0.count < 200 { release() } }
    case .snapshot: session.snapshot { _ in release() }
    }
  }

  @Test("Many threads drop the session while answers come late, twice and from anywhere")
  func fromManyThreads() async throws {
    for round in 0..<20 {
      let (timers, end) = AsyncStream<Void>.makeStream()
      var environment = SyncEnvironment.live
      let make = environment.makeTimer
      environment.makeTimer = { ReportingTimer(make($0, $1)) { end.finish() } }
      let manner: MisbehavingHandler.Manner = round % 2 == 0 ? .held : .scattered
      let cloud = MisbehavingHandler(StubCloud(), manner, seed: UInt64(round))
      let owners: [Owner]
      let states: AsyncStream<SyncState>
      weak var released: CloudSyncSession?
      do {
        let session = CloudSyncSession(
          operationHandler: cloud,
          zoneID: SessionHarness.zoneID,
          environment: environment
        )
        owners = (0..<8).map { _ in Owner(session) }
        states = session.statePublisher.values(buffering: .newest)
        released = session
        session.start()
      }
      try owners[0].submit(20)
      await Crowd.run(8) { member in
        if member % 2 == 0 { cloud.releaseAnswers() }
        owners[member].session.withLock { $0 }?.connectivityChanged()
        owners[member].release()
        cloud.releaseAnswers()
      }
      // Ends only when the session does.
      for await _ in states { cloud.releaseAnswers() }
      for await _ in timers {}
      cloud.releaseAnswers()
      await cloud.arrivals()
      cloud.releaseAnswers()

      #expect(released == nil)
      #expect(owners[0].wrongs(of: 20) == [])
      #expect(cloud.violations == [])
    }
  }

  @Test("Sessions that share a gate come and go on all threads, also from their last completions")
  func sharedGate() async {
    let gate = SyncGate()
    let ended = Locked(0)
    await Crowd.run(8) { _ in
      for _ in 0..<50 { Self.visit(gate, again: 2, ended) }
    }

    #expect(ended.withLock { $0 } == 8 * 50 * 3)
  }

  /// Makes a session that is released at once; its completion makes another.
  private static func visit(_ gate: SyncGate, again: Int, _ ended: Locked<Int>) {
    let world = VirtualEnvironment()
    let session = CloudSyncSession(
      operationHandler: StubCloud(),
      zoneID: SessionHarness.zoneID,
      gate: gate,
      environment: world.environment
    )
    session.fetch { _ in
      ended.withLock { $0 += 1 }
      if again > 0 { visit(gate, again: again - 1, ended) }
    }
    world.run()
  }

  @Test("Who waits for an operation keeps the session, and is answered")
  func waitersKeep() async throws {
    let cloud = MisbehavingHandler(StubCloud(), .held)
    weak var released: CloudSyncSession?
    var waiting: [Task<Bool, Never>] = []
    let states: AsyncStream<SyncState>
    do {
      let session = CloudSyncSession(operationHandler: cloud, zoneID: SessionHarness.zoneID)
      released = session
      states = session.statePublisher.values(buffering: .newest)
      session.start()
      for number in 0..<8 {
        waiting.append(
          Task {
            let operation = ModifyOperation(records: [.note("r\(number)", number)])
            return (try? await session.perform(operation)) != nil
          }
        )
      }
    }
    cloud.straighten()
    cloud.releaseAnswers()
    for task in waiting { #expect(await task.value) }
    waiting = []
    for await _ in states {}

    #expect(released == nil)
  }
}
