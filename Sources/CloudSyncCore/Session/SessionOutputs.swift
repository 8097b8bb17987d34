/// What a session does to the world: it calls the handler and the subscribers, and closes the gate.
///
/// Whatever comes back goes into the inbox.
final class SessionOutputs: Sendable {
  let handler: any OperationHandler
  /// The nanoseconds that the cloud's timestamps are multiples of.
  let timestampUnit: Int64
  let publishers: SessionPublishers
  let completions = Locked(CompletionTable())
  let timer: any SyncTimer
  let inbox: Inbox
  /// Where callbacks run; nil for the session's own executor.
  let callbackExecutor: SyncExecutor?
  private let gate: SyncGate?
  /// How many pages that bring something have been delivered.
  let pagesOfNews = Locked(0)
  /// Whether a delivery of the newest state is on its way to the callbacks' executor.
  let isStateOnItsWay = Locked(false)

  init(
    state: SyncState,
    handler: any OperationHandler,
    inbox: Inbox,
    timer: any SyncTimer,
    callbackExecutor: SyncExecutor?,
    gate: SyncGate?
  ) {
    self.handler = handler
    timestampUnit = max(1, handler.timestampUnit.clampedNanoseconds)
    self.inbox = inbox
    self.timer = timer
    self.callbackExecutor = callbackExecutor
    self.gate = gate
    publishers = SessionPublishers(state: state)
    publishers.halted.send(state.haltReason?.error)
  }

  deinit {
    timer.cancel()
    let waiting = completions.withLock { $0.removeAll() }
    let error = SyncError(.sessionReleased, "the session was released")
    for completion in waiting { completion.fail(error) }
  }

  // MARK: The state

  /// The state after the last event, for other threads.
  var state: SyncState {
    guard let state = publishers.state.kept else {
      preconditionFailure("A session has a state from its beginning.")
    }
    return state
  }

  /// Shows a new state to other threads, and to who subscribes from here on.
  func stateDidChange(to state: SyncState) { publishers.state.keep(state) }

  // MARK: Handler, provider and gate

  /// Calls the handler; its response is an input like any other.
  func call(_ work: SyncWork, request: RequestContext) {
    let attempt = request.attempt
    switch work {
    case .createZone(let operation):
      handler.handle(createZoneOperation: operation, context: request) { [inbox] result in
        inbox.post(answer: result, to: attempt, as: SyncWork.Result.createZone)
      }
    case .createSubscription(let operation):
      handler.handle(createSubscriptionOperation: operation, context: request) {
        [inbox] result in
        inbox.post(answer: result, to: attempt, as: SyncWork.Result.createSubscription)
      }
    case .modify(let operation):
      handler.handle(modifyOperation: operation, context: request) { [inbox] result in
        inbox.post(answer: result, to: attempt, as: SyncWork.Result.modify)
      }
    case .fetch(let operation):
      handler.handle(fetchOperation: operation, context: request) { [inbox] result in
        inbox.post(answer: result, to: attempt, as: SyncWork.Result.fetch)
      }
    }
  }

  func ask(_ provider: AccountStatusProvider, check: UInt64) {
    provider.ask { [weak inbox] status, identity in
      inbox?.post(.accountAnswer(check: check, status, identity))
    }
  }

  func closeSharedGate(wait: Wait, at now: Timestamp) { gate?.close(for: wait, by: inbox, at: now) }
}
