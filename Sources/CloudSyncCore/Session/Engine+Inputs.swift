extension Engine {
  /// Does what an input asks for.
  func handle(_ input: consuming SessionInput) {
    switch consume input {
    case .event(let event, let origin): run(event, origin: origin)
    case .submission(let event, let accepted):
      self.accepted = accepted
      run(event, origin: .call)
    case .dispatched(let event, let cause):
      run(event, origin: .middleware, cause: cause)
    case .answer(let event): handle(answer: event)
    case .accountAnswer(let check, let status, let identity):
      // A response to a question that nobody waits for any more: of an older epoch, or given twice.
      guard check == accountCheck, context.state.account.check != nil else { return }
      let event = SyncEvent.accountStatusChanged(status, identity)
      run(event, origin: .report, cause: check)
    case .timer: processTimer()
    case .middleware(let middleware, let position):
      attach(middleware, at: position)
      for event in middleware.attachmentEvents {
        run(event, origin: .call)
      }
    case .journal(let write):
      confirmDeliveries()
      journal = write
      write(SyncArchive.frame(of: context.state))
    case .snapshot(let completion):
      confirmDeliveries()
      completion(SyncArchive.frame(of: context.state))
    case .observer(let observer, let isAttached):
      observe(observer, isAttached: isAttached)
    case .waiter(let waiter): add(waiter)
    case .fulfilled(let number):
      if let waiter = waiters.remove(number) { waiter.resume(true) }
    case .released: hasEnded = true
    }
  }

  /// Takes the handler's response, if anybody still waits for it.
  private func handle(answer event: SyncEvent) {
    guard let flight = context.state.flight, flight.attempt == event.attempt else { return }
    run(event, origin: .handler, cause: flight.startedBy)
  }

  /// Wakes the state if its time has come; a timer that fired early is set again.
  private func processTimer() {
    let cause = armedBy
    armed = nil
    armedBy = nil
    let now = context.now
    if case .wait(_, let until) = context.state.next(at: now) {
      guard let until else { return }
      // A clock that was set back costs one more wait: the event moves what it has pushed away.
      if until > now, !context.state.hasDistantDeadline(at: now) {
        return arm(time: until, because: cause)
      }
    }
    run(.woke, origin: .timer, cause: cause)
  }

  /// Tells the state what has been delivered, so that stored bytes do not announce it again.
  private func confirmDeliveries() {
    let delivered = inbox.deliveredUpTo
    if delivered > context.state.notifications.first { process(delivered: delivered) }
  }

  // MARK: Waiters

  /// Lets somebody wait, unless the wish is fulfilled already.
  private func add(_ waiter: Waiter) {
    if waiter.isSatisfied(context.state) { return waiter.resume(true) }
    var waiter = waiter
    // The clock may have been set back since the call.
    waiter.deadline.clamp(at: context.now)
    waiters.add(waiter)
    armAnew(time: waiter.deadline.until)
  }

  /// Tells the waiters whose wish is fulfilled, or whose time is over.
  func serveWaiters() {
    guard !waiters.isEmpty else { return }
    let now = context.now
    let state = context.state
    let ended = waiters.removeEnded(at: now)
    for waiter in ended { waiter.resume(waiter.isSatisfied(state)) }
    if state.isIdle { for waiter in waiters.removeSatisfied(by: state) { waiter.resume(true) } }
    if state.isHalted {
      for waiter in waiters.removeAll() { waiter.resume(waiter.isSatisfied(state)) }
    }
    if let end = waiters.nextEnd { arm(time: end, because: nil) }
  }
}
