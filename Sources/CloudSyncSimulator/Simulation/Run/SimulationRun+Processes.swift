import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud

extension SimulationRun {
  // MARK: Launching

  /// Launches the app of a device, if it does not run.
  func launch(_ seat: SimulationSeat) {
    guard !isOver, seat.process == nil else { return }
    let process = SimulatedProcess(in: world, clock: seat.clock)
    let count = seat.state.withLock { state in
      state.process = process
      state.processes += 1
      state.hasStarted = false
      state.lastState = nil
      state.stateBefore = nil
      return state.processes
    }
    var seeds = seat.random.fork(1_000 + UInt64(count))
    let faulty = FaultyOperationHandler(
      CloudEnd(run: self, seat: seat),
      in: world,
      seed: seeds.next(),
      plan: .none
    ) { [self] point in changeWorld(point, seat) }
    faulty.plan = plan
    let handler = DeviceHandler(run: self, seat: seat, process: process, base: faulty)
    seat.state.withLock { state in
      if let old = state.faulty {
        state.coverage.add(old.coverage)
        faulty.lastToken = old.lastToken
      }
      state.faulty = faulty
    }
    seat.device.launch(
      DeviceProcess(
        handler: tampering?.handler(handler, device: seat.number) ?? handler,
        environment: process.environment,
        configuration: variant.configuration,
        callbackExecutor: variant.callsBackLater ? process.executor : nil,
        executor: process.executor,
        resolver: variant.resolver,
        process: process,
        didMake: { [self] session in adopt(session, seat, process) },
        plan: { [self] in plan },
        didFail: { [self] point in storageFailed(point, seat, process) }
      )
    )
  }

  /// What goes wrong now.
  var plan: FaultPlan { memory.withLock { $0.isCalm ? .none : options.faults } }

  /// Watches a new session.
  private func adopt(
    _ session: CloudSyncSession,
    _ seat: SimulationSeat,
    _ process: SimulatedProcess
  ) {
    let number = seat.number
    seat.state.withLock { state in
      state.hasStarted = false
      state.lastState = nil
      state.stateBefore = nil
    }
    session.attach(SeatObserver(self, seat, process, session))
    if options.keepsLogs {
      let recorder = EventRecorder(.ring(capacity: 1_000_000))
      recorder.attach(to: session)
      seat.state.withLock { $0.recorders.append(recorder) }
    }
    if variant.hasProvider {
      session.appendMiddleware(
        AccountStatusMiddleware { [self] completion in askAccount(seat, process, completion) }
      )
    }
    tampering?.attach(to: session, device: seat.number)
    session.modifyWorkCompletedSubject.sink { [self] operation, response in
      if process.isAlive { tell(.completed(operation, response), number) }
    }
    session.fetchWorkCompletedSubject.sink { [self] operation, page in
      if process.isAlive { tell(.page(operation, page), number) }
    }
    session.workFailedSubject.sink { [self] work, error in
      if process.isAlive { tell(.failed(work, error), number) }
    }
    session.parkedSubject.sink { [self] change in
      if process.isAlive { tell(.parked(change), number) }
    }
    tell(.launched(session), number)
  }

  /// Answers who is signed in: at once, later, or not at all.
  private func askAccount(
    _ seat: SimulationSeat,
    _ process: SimulatedProcess,
    _ completion: @escaping AccountStatusProvider.Completion
  ) {
    let isCalm = memory.withLock { $0.isCalm }
    let (status, isForeign, delay) = seat.state.withLock { state in
      (state.status, state.isForeign, state.random.below(40))
    }
    let identity = isForeign ? AccountIdentity("stranger") : Self.owner
    let answer: @Sendable () -> Void = { [self] in
      guard process.isAlive else { return }
      tell(.accountTold(status, identity), seat.number)
      completion(status, status == .available ? identity : nil)
    }
    if isCalm || delay < 20 { return answer() }
    if delay == 39 { return }
    world.schedule(after: .milliseconds(delay * 40), answer)
  }

  // MARK: Killing

  /// Takes an event of a session; some are its last.
  func observed(
    _ step: ObservedStep,
    _ seat: SimulationSeat,
    _ process: SimulatedProcess
  ) {
    tell(.event(step.record, input: step.input, step.state), seat.number)
    let ratio = plan[.killed]
    let isLast = seat.state.withLock { state in
      state.stateBefore = state.lastState
      state.lastState = step.state
      if case .start = step.record.event { state.hasStarted = true }
      guard state.hasStarted, ratio.hits > 0 else { return false }
      return state.kills.chance(ratio.hits, in: ratio.cases)
    }
    guard isLast else { return }
    seat.state.withLock { $0.coverage.count(.killed) }
    kill(seat, process)
  }

  /// Ends a process here.
  private func kill(_ seat: SimulationSeat, _ process: SimulatedProcess) {
    process.end()
    // Later, because the session is in the middle of its work.
    world.enqueue { [self] in bury(seat) }
  }

  /// Takes what a storage layer has made go wrong.
  private func storageFailed(
    _ point: FaultPoint,
    _ seat: SimulationSeat,
    _ process: SimulatedProcess
  ) {
    guard process.isAlive else { return }
    seat.state.withLock { $0.coverage.count(point) }
    if point == .killedWriting { kill(seat, process) }
  }

  /// Cleans up after a killed app, and launches it again after a while.
  private func bury(_ seat: SimulationSeat) {
    let (delay, wantsTear) = seat.state.withLock { state in
      let delay = state.kills.pick([2, 5, 60]) * 1_000 + state.kills.below(1_000)
      return (delay, state.kills.chance(1, in: 3))
    }
    let isTorn = wantsTear && seat.device.tearArchive()
    let state = seat.state.withLock { isTorn ? $0.stateBefore : $0.lastState }
    tell(.killed(archive: seat.device.archive, state: state, isTorn: isTorn), seat.number)
    seat.device.quit()
    seat.state.withLock { $0.process = nil }
    world.schedule(after: .milliseconds(delay)) { [self] in launch(seat) }
  }

  // MARK: Pushes

  /// Lets the other devices know, sooner or later, mostly.
  func push(from number: Int) {
    let isCalm = memory.withLock { $0.isCalm }
    for seat in seats where seat.number != number {
      let delay = seat.state.withLock { state -> Int? in
        guard !state.isPushed else { return nil }
        let delay = state.random.within(100...5_000)
        let isLost = state.random.chance(1, in: 8) && !isCalm
        if !isLost { state.isPushed = true }
        return isLost ? nil : delay
      }
      guard let delay else { continue }
      world.schedule(after: .milliseconds(delay)) { [self] in
        seat.state.withLock { $0.isPushed = false }
        if !isOver, seat.isAwake { seat.device.fetch() }
      }
    }
  }

  /// Counts a request that was made without a network.
  func countOffline(_ work: SyncWork, _ seat: SimulationSeat) {
    seat.state.withLock { state in
      state.coverage.count(
        .init(mode: work.mode, code: .networkUnavailable, point: .offline)
      )
    }
  }
}
