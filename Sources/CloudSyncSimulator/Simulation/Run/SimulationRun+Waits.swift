import CloudSyncCore

extension SimulationRun {
  /// Has the app of a device wait for its session, as one does that a push has woken, or that is about to be
  /// suspended.
  func wait(on host: SimulatedHost) {
    guard !isOver, !isQuiet, host.isAwake, let process = host.process,
      let session = host.device.session
    else { return }
    let made = ObjectIdentifier(session)
    guard host.state.withLock({ $0.session == made }) else { return }
    let call = memory.withLock { memory in
      memory.waitingCalls += 1
      return WaitingCall(
        number: memory.waitingCalls,
        wish: memory.waits.pick([.idle, .fetchNow]),
        limit: .seconds(memory.waits.pick([0, 1, 10, 30, 120, 600]))
      )
    }
    report(event: .waits(call), device: host.number)
    let tell: @Sendable (WaitingCall.Outcome) -> Void = { [self, weak session] outcome in
      guard process.isAlive, host.state.withLock({ $0.session == made }) else { return }
      let isKept = session.map { $0 === host.device.session } ?? false
      report(event: .waited(call, isKept ? outcome : .abandoned), device: host.number)
    }
    // Later, because a session may be released in the middle of anything.
    let end = WaitEnd(tell) { [world] in world.enqueue { tell(.abandoned) } }
    switch call.wish {
    case .idle: session.idle(upTo: call.limit) { end.come(to: .idle($0)) }
    case .fetchNow: session.fetchNow(upTo: call.limit) { end.come(to: .fetchNow($0)) }
    }
  }
}

/// Where a waiting call returns to; of a session that is released nobody else hears that it does not.
private final class WaitEnd: Sendable {
  private let tell: @Sendable (WaitingCall.Outcome) -> Void
  private let abandon: @Sendable () -> Void
  private let hasCome = Locked(false)

  init(
    _ tell: @escaping @Sendable (WaitingCall.Outcome) -> Void,
    abandon: @escaping @Sendable () -> Void
  ) {
    self.tell = tell
    self.abandon = abandon
  }

  deinit {
    if !hasCome.withLock({ $0 }) { abandon() }
  }

  func come(to outcome: WaitingCall.Outcome) {
    hasCome.withLock { $0 = true }
    tell(outcome)
  }
}
