extension CloudSyncSession {
  /// Puts an input at the end of the line.
  func post(_ input: SessionInput, update: (inout Inbox) -> Void = { _ in }) {
    let isIdle = inbox.withLock { inbox -> Bool in
      inbox.inputs.append(input)
      update(&inbox)
      defer { inbox.isScheduled = true }
      return !inbox.isScheduled
    }
    if isIdle { executor.run { [self] in drain() } }
  }

  /// Names an operation and puts it at the end of the line, both at once: numbers ascend in the queue.
  @discardableResult
  func submit(_ input: (OperationID) -> SessionInput) -> OperationID {
    let (id, isIdle) = inbox.withLock { inbox -> (OperationID, Bool) in
      let id = inbox.makeOperationID()
      inbox.inputs.append(input(id))
      defer { inbox.isScheduled = true }
      return (id, !inbox.isScheduled)
    }
    if isIdle { executor.run { [self] in drain() } }
    return id
  }

  /// Queues a modification that a middleware has dispatched behind everything called before: the
  /// names of those calls are given already.
  ///
  /// One that breaks a rule gets no name, and the reduction tells its failure.
  func submit(dispatched operation: ModifyOperation, cause: UInt64) {
    guard let submission = try? Submission(operation, zoneID: zoneID) else {
      return post(.dispatched(.doWork(.modify(operation.unnamed)), cause: cause))
    }
    submit { id in .dispatched(.doWork(.modify(submission.operation(named: id))), cause: cause) }
  }

  /// Has the executor take what is in the inbox.
  func schedule() {
    let isIdle = inbox.withLock { inbox -> Bool in
      defer { inbox.isScheduled = true }
      return !inbox.isScheduled
    }
    if isIdle { executor.run { [self] in drain() } }
  }

  /// How many delivered announcements the state may still hold before it is told about them.
  private static let deliveredBacklog: UInt64 = 256

  /// Takes inputs until there are none: only the executor calls it, never twice at once.
  func drain() {
    engine.withLock { engine in
      while true {
        let delivered = takeInputs(engine: engine)
        if engine.taking.isEmpty, delivered == nil { return }
        if let delivered { take(delivered: delivered, engine) }
        for input in engine.taking { take(input, engine) }
        engine.taking.removeAll(keepingCapacity: true)
      }
    }
  }

  /// Moves what is in the inbox to the engine; returns up to where deliveries are to be noted.
  ///
  /// They are noted when there is nothing else to do, or when there are many; a busy session that
  /// nobody journals can wait with it.
  private func takeInputs(engine: Engine) -> UInt64? {
    let first = engine.context.state.notifications.first
    let isBusy = engine.journal == nil && engine.context.state.hasWorkQueued
    return inbox.withLock { inbox in
      swap(&engine.taking, &inbox.inputs)
      let backlog = inbox.deliveredUpTo > first ? inbox.deliveredUpTo - first : 0
      let isAtRest = engine.taking.isEmpty && !isBusy && backlog > 0
      let isDue = isAtRest || backlog >= Self.deliveredBacklog
      if engine.taking.isEmpty, !isDue { inbox.isScheduled = false }
      return isDue ? inbox.deliveredUpTo : nil
    }
  }

  private func take(delivered number: UInt64, _ engine: Engine) {
    engine.context.now = environment.now()
    engine.run(.delivered(upTo: number), origin: .report, cause: nil, in: self)
    engine.serveWaiters(in: self)
  }

  private func take(_ input: SessionInput, _ engine: Engine) {
    engine.context.now = environment.now()
    switch input {
    case .event(let event, let origin): engine.run(event, origin: origin, cause: nil, in: self)
    case .submission(let event, let accepted):
      engine.accepted = accepted
      engine.run(event, origin: .call, cause: nil, in: self)
    case .dispatched(let event, let cause):
      engine.run(event, origin: .middleware, cause: cause, in: self)
    case .answer(let attempt, let result): take(result, to: attempt, engine)
    case .accountAnswer(let check, let status, let identity):
      // An answer to a question that nobody waits for any more: of an older epoch, or given twice.
      guard check == engine.accountCheck, engine.context.state.account.check != nil else { return }
      let event = SyncEvent.accountStatusChanged(status, identity)
      engine.run(event, origin: .report, cause: check, in: self)
    case .timer: processTimer(engine: engine)
    case .middleware(let middleware, let position):
      engine.attach(middleware, at: position)
      for event in middleware.attachmentEvents {
        engine.run(event, origin: .call, cause: nil, in: self)
      }
    case .journal(let write):
      confirmDeliveries(engine: engine)
      engine.journal = write
      write(SyncArchive.frame(of: engine.context.state))
    case .snapshot(let completion):
      confirmDeliveries(engine: engine)
      completion(SyncArchive.frame(of: engine.context.state))
    case .observer(let observer, let isAttached):
      engine.observe(observer, isAttached: isAttached)
    case .waiter(let waiter): engine.waiters.append(waiter)
    }
    engine.serveWaiters(in: self)
  }

  /// Takes the handler's answer, if anybody still waits for it.
  private func take(
    _ result: Result<SyncWork.Result, SyncError>,
    to attempt: Attempt,
    _ engine: Engine
  ) {
    guard let flight = engine.context.state.flight, flight.attempt == attempt else { return }
    let event: SyncEvent =
      switch result {
      case .success(let result): .workSuccess(attempt, result)
      case .failure(let error): .workFailure(attempt, error)
      }
    engine.run(event, origin: .handler, cause: flight.startedBy, in: self)
  }

  /// Wakes the state if its time has come; a timer that fired early is set again.
  private func processTimer(engine: Engine) {
    let armedBy = engine.armedBy
    engine.armed = nil
    engine.armedBy = nil
    let now = engine.context.now
    if case .wait(_, let until) = engine.context.state.next(at: now) {
      guard let until else { return }
      // A clock that was set back costs one more wait: the event moves what it has pushed away.
      if until > now, !engine.context.state.hasDistantDeadline(at: now) {
        return engine.arm(time: until, because: armedBy, in: self)
      }
    }
    engine.run(.woke, origin: .timer, cause: armedBy, in: self)
  }

  /// Tells the state what has been delivered, so that stored bytes do not announce it again.
  private func confirmDeliveries(engine: Engine) {
    let delivered = inbox.withLock { $0.deliveredUpTo }
    if delivered > engine.context.state.notifications.first { take(delivered: delivered, engine) }
  }

  /// Shows a new state to other threads, and keeps the names of new operations in step with it.
  func stateDidChange(state: SyncState, by event: SyncEvent) {
    published.withLock { $0 = state }
    switch event {
    case .reset, .restored:
      inbox.withLock { inbox in
        inbox.epoch = state.epoch
        // A middleware may have dispatched it: then no call of it is counted.
        if inbox.pendingResets > 0 { inbox.pendingResets -= 1 }
      }
    case .resolveAccountSwitch: inbox.withLock { $0.epoch = state.epoch }
    default: break
    }
  }

  // MARK: Handler and provider

  /// Calls the handler; its answer is an input like any other.
  func call(_ work: SyncWork, request: RequestContext) {
    let attempt = request.attempt
    switch work {
    case .createZone(let operation):
      handler.handle(createZoneOperation: operation, context: request) { [weak self] result in
        self?.post(.answer(attempt, result.map(SyncWork.Result.createZone)))
      }
    case .createSubscription(let operation):
      handler.handle(createSubscriptionOperation: operation, context: request) {
        [weak self] result in
        self?.post(.answer(attempt, result.map(SyncWork.Result.createSubscription)))
      }
    case .modify(let operation):
      handler.handle(modifyOperation: operation, context: request) { [weak self] result in
        self?.post(.answer(attempt, result.map(SyncWork.Result.modify)))
      }
    case .fetch(let operation):
      handler.handle(fetchOperation: operation, context: request) { [weak self] result in
        self?.post(.answer(attempt, result.map(SyncWork.Result.fetch)))
      }
    }
  }

  func ask(_ provider: AccountStatusProvider, check: UInt64) {
    provider.ask { [weak self] status, identity in
      self?.post(.accountAnswer(check: check, status, identity))
    }
  }

  func closeSharedGate(wait: Wait, at now: Timestamp) {
    sharedGate?.close(wait, by: self, at: now)
  }
}
