public import CloudSyncCore

/// A handler that passes requests on to another one, badly: what goes wrong is drawn from a seed.
///
/// Use it around the handler of a test's cloud, to see what an app does on its worst days.
///
/// ```swift
/// let world = SimulatedEnvironment()
/// let handler = FaultyOperationHandler(cloud, in: world, seed: 42, plan: .default)
/// let session = CloudSyncSession(
///   operationHandler: handler, zoneID: zoneID, environment: world.environment)
/// ```
///
/// A request takes its time to the cloud, and its response back, as ``FaultPlan/latency`` says. At most
/// one thing goes wrong with a request. What a fault does not touch is not changed by it: each has
/// numbers of its own, so taking one out of the plan leaves the others where they were, as long as
/// the session does the same.
public final class FaultyOperationHandler: WorkHandler {
  /// Brings about a change of the world; returns false to let the request fail as if it had come.
  public typealias WorldChange = @Sendable (FaultPoint) -> Bool

  private struct State {
    var plan: FaultPlan
    var random: SeededRandom
    /// By the place of the point.
    var draws: [SeededRandom]
    var coverage = FaultCoverage()
    /// Answers that come after that to the next request.
    var held: [@Sendable () -> Void] = []
    /// Whether nobody waits for answers any more.
    var isDropping = false
    var lastToken: WriteToken?
  }

  /// How much one request may hold: what the other handler says.
  public var limits: RequestLimits { base.limits }
  /// The unit of the handler inside.
  public var timestampUnit: Duration { base.timestampUnit }
  let base: any OperationHandler
  let world: SimulatedEnvironment
  private let change: WorldChange
  private let state: Locked<State>

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - base: The handler that does the work.
  ///   - world: Whose time passes meanwhile.
  ///   - seed: What all draws come from.
  ///   - plan: How often each thing goes wrong.
  ///   - change: Is called before a request for those points that change the world: it deletes the
  ///     zone, say. By default the request gets the error that such a world would answer, once.
  public init(
    _ base: any OperationHandler,
    in world: SimulatedEnvironment,
    seed: UInt64,
    plan: FaultPlan = .default,
    change: @escaping WorldChange = { _ in false }
  ) {
    self.base = base
    self.world = world
    self.change = change
    let random = SeededRandom(seed: seed)
    state = Locked(
      State(
        plan: plan,
        random: random.fork(0),
        draws: FaultPoint.allCases.map { random.fork(UInt64($0.place) + 1) }
      )
    )
  }

  /// How often each thing goes wrong from now on.
  public var plan: FaultPlan {
    get { state.withLock { $0.plan } }
    set { state.withLock { $0.plan = newValue } }
  }

  /// The token of the last request; another process of the same device goes on with it.
  var lastToken: WriteToken? {
    get { state.withLock { $0.lastToken } }
    set { state.withLock { $0.lastToken = newValue } }
  }

  /// What has been tried so far.
  public var coverage: FaultCoverage { state.withLock { $0.coverage } }

  /// Passes a call on, or not.
  public func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    let journey = draw(work: work, token: context.writeToken)
    // Weakly, because a response may be held here for ever.
    let call = FaultyCall(work: work, context: context, journey: journey) { [weak self] result in
      self?.deliver(result: result, to: work.mode, point: journey.point, completion: completion)
    }
    if let point = journey.point {
      state.withLock { $0.coverage.count(point) }
      if point.isOfWorld { return enterChangedWorld(point: point, call: call) }
    }
    send(call)
  }

  /// Passes it on that nobody waits for a response any more.
  public func cancel(_ attempt: Attempt) { base.cancel(attempt) }

  // MARK: Drawing

  private func draw(work: SyncWork, token: WriteToken) -> FaultyCall.Journey {
    state.withLock { state in
      let isRepeat = token == state.lastToken
      state.lastToken = token
      let latency = max(1, state.plan.latency) * 1_000
      var journey = FaultyCall.Journey(
        there: Int64(state.random.within(1...latency)) * 1_000,
        back: Int64(state.random.within(1...latency)) * 1_000
      )
      for point in FaultPoint.allCases where point.isOfHandler {
        let ratio = state.plan[point]
        guard ratio.hits > 0, point.applies(to: work) else { continue }
        // What was carried out once is not refused for its content.
        if isRepeat, point.isAboutContent { continue }
        if point == .recordUnanswered {
          // Drawn anew each time, so that it is the same each time.
          guard work.hasRecord(hitBy: ratio, seed: state.draws[point.place]) else { continue }
          journey.point = point
          break
        }
        guard state.draws[point.place].chance(ratio.hits, in: ratio.cases) else { continue }
        journey.point = point
        journey.random = state.draws[point.place].fork()
        break
      }
      return journey
    }
  }

  // MARK: Answers

  private func deliver(
    result: Result<SyncWork.Result, SyncError>,
    to mode: OperationMode,
    point: FaultPoint?,
    completion: Completion
  ) {
    let held = state.withLock { state in
      let ofItems = point == nil ? result.pointOfItems : nil
      if let ofItems { state.coverage.count(ofItems) }
      state.coverage.count(.init(mode: mode, code: result.errorCode, point: point ?? ofItems))
      defer { state.held = [] }
      return state.held
    }
    completion(result)
    for answer in held { answer() }
  }

  /// Lets a response come after that to the next request.
  func hold(answer: @escaping @Sendable () -> Void) {
    state.withLock { state in
      if !state.isDropping { state.held.append(answer) }
    }
  }

  /// Forgets the responses that come after the next one, for there is none: they hold whoever waits for them, who holds this.
  func dropHeldAnswers() {
    let held = state.withLock { state in
      state.isDropping = true
      defer { state.held = [] }
      return state.held
    }
    withExtendedLifetime(held) {}  // Released outside the lock.
  }

  private func enterChangedWorld(point: FaultPoint, call: FaultyCall) {
    if change(point) { return send(call) }
    guard let error = point.worldError else { return send(call) }
    answer(call: call, result: .failure(error))
  }
}

extension Result where Success == SyncWork.Result, Failure == SyncError {
  /// The code of the response, that of the first item if only items failed; nil if all is done.
  var errorCode: SyncError.Code? {
    switch self {
    case .failure(let error):
      error.code == .partialFailure
        ? error.itemErrors.first { $0.error.code != .batchRequestFailed }?.error.code ?? error.code
        : error.code
    case .success(.modify(let response)):
      response.failures.first { $0.error.code != .batchRequestFailed }?.error.code
        ?? response.failures.first?.error.code
    case .success(.fetch(let response)): response.failures.first?.error.code
    case .success: nil
    }
  }
}
