/// What waits to be taken by a session's engine, in order; anybody may put something in, from any
/// thread.
///
/// It has the executor run the engine when something is put into an empty inbox. It knows the engine
/// weakly: an inbox whose session is gone takes no notice of late responses.
final class Inbox: Sendable {
  fileprivate struct State: Sendable {
    var inputs: [SessionInput] = []
    /// Whether the executor has been asked to take inputs.
    var isScheduled = false
    /// Whether nobody has the session any more.
    var isReleased = false
    /// The number of the next operation.
    var nextOperation: UInt64
    /// The epoch of the state as it was last seen.
    var epoch: UInt64
    /// Resets that are called and not yet taken.
    var pendingResets: UInt64 = 0
    /// Every announcement before this number has been delivered.
    var deliveredUpTo: UInt64 = 0
    /// The number of the next waiter.
    var nextWaiter: UInt64 = 0
    /// Who takes what is put in.
    weak var engine: Locked<Engine>?
  }

  private let state: Locked<State>
  private let executor: SyncExecutor

  /// How many delivered announcements the state may still hold before it is told about them.
  private static let deliveredBacklog: UInt64 = 256

  init(for state: SyncState, executor: SyncExecutor) {
    self.state = Locked(State(nextOperation: state.nextOperation, epoch: state.epoch))
    self.executor = executor
  }

  /// Says who takes what is put in.
  func connect(to engine: Locked<Engine>) { state.withLock { $0.engine = engine } }

  // MARK: Putting in

  /// Puts an input at the end of the line.
  ///
  /// - Parameters:
  ///   - input: What came in.
  ///   - isReset: Whether operations that are named from now on belong to the next epoch.
  func post(_ input: consuming SessionInput, isReset: Bool = false) {
    // A closure cannot hand on what it is given: so it would be copied.
    var waiting = Optional(consume input)
    let engine = state.withLock { state -> Locked<Engine>? in
      if let input = waiting.take() { state.inputs.append(input) }
      if isReset { state.pendingResets += 1 }
      return state.beginSchedule()
    }
    schedule(engine)
  }

  /// Puts the handler's response to an attempt at the end of the line.
  func post<Response>(
    answer: Result<Response, SyncError>,
    to attempt: Attempt,
    as result: (Response) -> SyncWork.Result
  ) {
    switch answer {
    case .success(let response): post(.answer(.workSuccess(attempt, result(response))))
    case .failure(let error): post(.answer(.workFailure(attempt, error)))
    }
  }

  /// Names an operation and puts it at the end of the line, both at once: numbers ascend in the queue.
  @discardableResult
  func submit(_ input: (OperationID) -> SessionInput) -> OperationID {
    let (id, engine) = state.withLock { state -> (OperationID, Locked<Engine>?) in
      let id = OperationID(epoch: state.epoch + state.pendingResets, number: state.nextOperation)
      state.nextOperation += 1
      state.inputs.append(input(id))
      return (id, state.beginSchedule())
    }
    schedule(engine)
    return id
  }

  /// Names somebody who is going to wait.
  func nameWaiter() -> UInt64 {
    state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
  }

  /// Remembers that an announcement has been delivered; the state is told when there is time.
  func confirmDelivery(of number: UInt64) {
    let engine = state.withLock { state -> Locked<Engine>? in
      state.deliveredUpTo = max(state.deliveredUpTo, number + 1)
      return state.beginSchedule()
    }
    schedule(engine)
  }

  /// Ends the engine behind what was put in before: its session is gone.
  func release() {
    // One that has nothing to do goes with its session, and gets nothing more to do until then.
    state.withLock { state in
      state.isReleased = true
      if state.isScheduled { state.inputs.append(.released) }
    }
  }

  /// Forgets a reset that a middleware has dropped: operations are named as before.
  func resetWasDropped() {
    state.withLock { state in if state.pendingResets > 0 { state.pendingResets -= 1 } }
  }

  /// Has an engine run that is idle, if there is one.
  private func schedule(_ idle: Locked<Engine>?) {
    // The job keeps the engine until it has run: nothing that was put in before is lost.
    guard let idle else { return }
    executor.run { idle.withLock { $0.drain() } }
  }

  // MARK: Taking out

  /// Every announcement before this number has been delivered.
  var deliveredUpTo: UInt64 { state.withLock { $0.deliveredUpTo } }

  /// Moves what waits into an empty array.
  ///
  /// Deliveries are noted when there is nothing else to do, or when there are many; a busy session that
  /// nobody journals can wait with it.
  ///
  /// - Parameters:
  ///   - inputs: Where to put what waits.
  ///   - first: The number of the first announcement that the state still holds.
  ///   - isBusy: Whether noting deliveries can wait.
  /// - Returns: Up to where deliveries are to be noted now, if they are.
  func moveInputs(into inputs: inout [SessionInput], first: UInt64, isBusy: Bool) -> UInt64? {
    state.withLock { state in
      swap(&inputs, &state.inputs)
      let backlog = state.deliveredUpTo > first ? state.deliveredUpTo - first : 0
      let isAtRest = inputs.isEmpty && !isBusy && backlog > 0
      let isDue = isAtRest || backlog >= Self.deliveredBacklog
      if inputs.isEmpty, !isDue { state.isScheduled = false }
      return isDue ? state.deliveredUpTo : nil
    }
  }

  /// Keeps the names of new operations in step with a state's epoch.
  func epochDidChange(to epoch: UInt64, byReset isReset: Bool) {
    state.withLock { state in
      state.epoch = epoch
      // A middleware may have dispatched it: then no call of it is counted.
      if isReset, state.pendingResets > 0 { state.pendingResets -= 1 }
    }
  }
}

extension Inbox.State {
  /// The engine that the executor has to be asked to run, if it has not been; from here on it has been.
  fileprivate mutating func beginSchedule() -> Locked<Engine>? {
    if isScheduled || isReleased { return nil }
    isScheduled = true
    return engine
  }
}
