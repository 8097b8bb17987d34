import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SimulationRun {
  // MARK: Launching

  /// Launches the app of a device, if it does not run.
  func launch(_ host: SimulatedHost) {
    guard !isOver, host.process == nil else { return }
    let process = SimulatedProcess(in: world, clock: host.clock)
    let count = host.state.withLock { state in
      state.process = process
      state.processes += 1
      state.hasStarted = false
      state.lastState = nil
      state.stateBefore = nil
      return state.processes
    }
    var seeds = host.random.fork(1_000 + UInt64(count))
    let faulty = FaultyOperationHandler(
      CloudEnd(run: self, host: host),
      in: world,
      seed: seeds.next(),
      plan: .none
    ) { [self] point in injectWorldFault(point: point, host: host) }
    faulty.plan = plan
    let handler = DeviceHandler(run: self, host: host, process: process, base: faulty)
    host.state.withLock { state in
      if let old = state.faulty {
        state.coverage.add(old.coverage)
        faulty.lastToken = old.lastToken
      }
      state.faulty = faulty
    }
    let gate = variant.hasSiblings && type(of: host.device).sharesGate ? SyncGate() : nil
    host.device.launch(
      DeviceProcess(
        handler: mutation?.handler(base: handler, device: host.number) ?? handler,
        environment: mutation?
          .environment(base: process.environment, device: host.number) ?? process.environment,
        configuration: mutation?.configuration(base: variant.configuration)
          ?? variant.configuration,
        callbackExecutor: variant.callsBackLater ? process.executor : nil,
        gate: mutation?.gate(base: gate) ?? gate,
        executor: process.executor,
        resolver: variant.resolver,
        process: process,
        didMake: { [self] session in adopt(session: session, host: host, process: process) },
        plan: { [self] in plan },
        accepted: { [self] operation in
          if process.isAlive { report(event: .accepted(operation), device: host.number) }
        },
        didFail: { [self] point in storageFailed(point: point, host: host, process: process) }
      )
    )
    if let gate { SiblingApp(run: self, host: host, process: process, gate: gate).begin() }
  }

  /// What goes wrong now.
  var plan: FaultPlan { memory.withLock { $0.isFaultFree ? .none : options.faults } }

  /// Watches a new session.
  private func adopt(
    session: CloudSyncSession,
    host: SimulatedHost,
    process: SimulatedProcess
  ) {
    let (number, made) = (host.number, ObjectIdentifier(session))
    host.state.withLock { state in
      (state.session, state.epoch) = (made, session.state.epoch)
      state.hasStarted = false
      state.lastState = nil
      state.stateBefore = nil
    }
    session.attach(HostObserver(of: session, in: process, on: host, run: self))
    if options.keepsLogs {
      let recorder = EventRecorder(.ring(capacity: 1_000_000))
      recorder.attach(to: session)
      host.state.withLock { $0.recorders.append(recorder) }
    }
    if variant.hasProvider {
      session.appendMiddleware(
        AccountStatusMiddleware { [self] completion in
          askAccount(host: host, process: process, completion: completion)
        }
      )
    }
    mutation?.attach(to: session, device: host.number)
    let tell: @Sendable (SimulationEvent) -> Void = { [self] event in
      guard process.isAlive, host.state.withLock({ $0.session == made }) else { return }
      report(event: event, device: number)
    }
    session.modifyWorkCompletedSubject.sink { tell(.completed($0, $1)) }
    session.fetchWorkCompletedSubject.sink { tell(.page($0, $1)) }
    session.workFailedSubject.sink { tell(.failed($0, $1)) }
    session.parkedSubject.sink { tell(.parked($0)) }
    session.progressSubject.sink { tell(.progress($0)) }
    report(event: .launched(session), device: number)
  }

  /// Answers who is signed in: at once, later, or not at all.
  private func askAccount(
    host: SimulatedHost,
    process: SimulatedProcess,
    completion: @escaping AccountStatusProvider.Completion
  ) {
    let isFaultFree = memory.withLock { $0.isFaultFree }
    let (status, isForeign, delay) = host.state.withLock { state in
      (state.status, state.isForeign, state.random.below(40))
    }
    let identity = isForeign ? AccountIdentity("stranger") : Self.owner
    let answer: @Sendable () -> Void = { [self] in
      guard process.isAlive else { return }
      report(event: .accountTold(status, identity), device: host.number)
      completion(status, status == .available ? identity : nil)
    }
    if isFaultFree || delay < 20 { return answer() }
    if delay == 39 { return }
    world.schedule(after: .milliseconds(delay * 40), answer)
  }

  // MARK: Killing

  /// Takes an event of a session; some are its last.
  func observed(
    step: ObservedStep,
    host: SimulatedHost,
    process: SimulatedProcess
  ) {
    report(event: .event(step.record, input: step.input, step.state), device: host.number)
    let ratio = plan[.killed]
    let isLast = host.state.withLock { state in
      state.stateBefore = state.lastState
      state.lastState = step.state
      if case .start = step.record.event { state.hasStarted = true }
      guard state.hasStarted, ratio.hits > 0 else { return false }
      return state.kills.chance(ratio.hits, in: ratio.cases)
    }
    guard isLast else { return }
    host.state.withLock { $0.coverage.count(.killed) }
    kill(host: host, process: process)
  }

  /// Ends a process here.
  private func kill(host: SimulatedHost, process: SimulatedProcess) {
    process.end()
    host.state.withLock { $0.faulty }?.dropHeldAnswers()
    // Later, because the session is in the middle of its work.
    world.enqueue { [self] in cleanUpAfterKill(host: host) }
  }

  /// Takes what a storage layer has made go wrong.
  private func storageFailed(
    point: FaultPoint,
    host: SimulatedHost,
    process: SimulatedProcess
  ) {
    guard process.isAlive else { return }
    host.state.withLock { $0.coverage.count(point) }
    if point == .killedWriting { kill(host: host, process: process) }
    if point == .recordRemoved { removeRecord(besides: host) }
    if point == .fileCopied { report(event: .copied(from: 0), device: host.number) }
  }

  /// Cleans up after a killed app, and launches it again after a while.
  private func cleanUpAfterKill(host: SimulatedHost) {
    let (delay, wantsTear) = host.state.withLock { state in
      let delay = state.kills.pick([2, 5, 60]) * 1_000 + state.kills.below(1_000)
      return (delay, state.kills.chance(1, in: 3))
    }
    let tail = drawTail(of: host)
    let isTorn = wantsTear && host.device.tearArchive(leaving: tail)
    if isTorn, !tail.isEmpty { host.state.withLock { $0.coverage.count(.dirtyTail) } }
    let state = host.state.withLock { isTorn ? $0.stateBefore : $0.lastState }
    report(
      event: .killed(archive: host.device.archive, state: state, isTorn: isTorn),
      device: host.number
    )
    host.device.quit()
    let sibling = host.state.withLock { state in
      state.process = nil
      defer { state.sibling = nil }
      return state.sibling
    }
    _ = consume sibling  // Released outside the lock.
    world.schedule(after: .milliseconds(delay)) { [self] in launch(host) }
  }

  /// What the disk has where the end of a write should be: often nothing.
  private func drawTail(of host: SimulatedHost) -> Data {
    let ratio = plan[.dirtyTail]
    guard ratio.hits > 0 else { return Data() }
    return host.state.withLock { state in
      guard state.tails.chance(ratio.hits, in: ratio.cases) else { return Data() }
      let count = state.tails.pick([1, 7, 64, 512, 4_096])
      if state.tails.chance(1, in: 2) { return Data(repeating: 0, count: count) }
      return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: state.tails.next()) })
    }
  }

  // MARK: Pushes

  /// Lets the other devices know, sooner or later, mostly.
  func push(from number: Int) {
    let isFaultFree = memory.withLock { $0.isFaultFree }
    for host in hosts where host.number != number {
      let delay = host.state.withLock { state -> Int? in
        guard !state.isPushed else { return nil }
        let delay = state.random.within(100...5_000)
        let isLost = state.random.chance(1, in: 8) && !isFaultFree
        if !isLost { state.isPushed = true }
        return isLost ? nil : delay
      }
      guard let delay else { continue }
      world.schedule(after: .milliseconds(delay)) { [self] in
        host.state.withLock { $0.isPushed = false }
        if !isOver, host.isAwake { host.device.fetch() }
      }
    }
  }

  /// Counts a request that was made without a network.
  func countOffline(work: SyncWork, host: SimulatedHost) {
    host.state.withLock { state in
      state.coverage.count(
        .init(mode: work.mode, code: .networkUnavailable, point: .offline)
      )
    }
  }
}
