/// Shows a cloud with every request how far its history had come when it answered last, so that a cloud which was put
/// back from a backup is told from the one that it was.
///
/// A change token is proof of what pages have told, but not of the saves that were answered since the last page. With
/// this handler around the cloud's own, every response leaves a token behind, and every request shows it. A cloud
/// that has lost what it once answered says so, whatever was asked for: the session takes its zone for lost, and
/// the app uploads again what it has.
///
/// ```swift
/// let handler = HistoryKeepingHandler(cloud, tokens: store.historyTokens) { tokens in
///   store.historyTokens = tokens
/// }
/// ```
///
/// The tokens have to be stored before, or together with, what the session announces: then nothing that the app has
/// taken for saved can be lost unnoticed. ``tokens`` never tells of less than what the session was told. Clouds
/// that give no ``ModifyOperation/Response/historyToken`` leave none. The engine of `CloudSyncSQLite` and the
/// histories of `CloudSyncChangesets` have such a handler already.
public final class HistoryKeepingHandler: OperationHandler {
  private struct State {
    var tokens: [ChangeToken]
    /// Whether the cloud has said that it lacks the zone, or what was shown.
    var isLost = false
  }

  private let handler: any OperationHandler
  private let onChange: (@Sendable ([ChangeToken]) -> Void)?
  private let state: Locked<State>

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - handler: The handler that talks to the cloud.
  ///   - tokens: What an earlier one has left.
  ///   - onChange: Stores the tokens; it is called before the response that has changed them is passed on.
  public init(
    _ handler: any OperationHandler,
    tokens: [ChangeToken] = [],
    onChange: (@Sendable ([ChangeToken]) -> Void)? = nil
  ) {
    self.handler = handler
    self.onChange = onChange
    state = Locked(State(tokens: tokens))
  }

  /// What the next request shows.
  public var tokens: [ChangeToken] { state.withLock { $0.tokens } }
  /// The limits of the handler inside.
  public var limits: RequestLimits { handler.limits }
  /// The unit of the handler inside.
  public var timestampUnit: Duration { handler.timestampUnit }

  /// Takes what another session on the same store has left there: what it has taken away it has shown, or it knows
  /// that the cloud has lost it.
  ///
  /// - Parameters:
  ///   - present: The tokens that the store has now.
  ///   - former: Those that it had when this handler's were last stored.
  package func take(_ present: [ChangeToken], insteadOf former: [ChangeToken]) {
    if present == former { return }
    state.withLock { state in
      state.tokens.removeAll { former.contains($0) && !present.contains($0) }
      for token in present where !former.contains(token) && !state.tokens.contains(token) {
        state.tokens.append(token)
      }
    }
  }

  /// Creates the zone; one that was lost begins without a history.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    let shown = shown(in: context)
    handler.handle(createZoneOperation: operation, context: shown) { [self] result in
      if case .success(true) = result { endLoss(of: shown.historyTokens) }
      completion(result)
    }
  }

  /// Creates the subscription.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handler.handle(createSubscriptionOperation: operation, context: shown(in: context)) {
      [self] result in
      note(error: result.failure)
      completion(result)
    }
  }

  /// Saves and deletes records.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let shown = shown(in: context)
    handler.handle(modifyOperation: operation, context: shown) { [self] result in
      note(result, to: shown)
      completion(result)
    }
  }

  /// Fetches a page, or looks records up.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    let shown = shown(in: context)
    handler.handle(fetchOperation: operation, context: shown) { [self] result in
      note(result, to: shown)
      completion(result)
    }
  }

  /// Gives up a call of the handler inside.
  public func cancel(_ attempt: Attempt) { handler.cancel(attempt) }

  // MARK: What was told

  private func shown(in context: RequestContext) -> RequestContext {
    var context = context
    for token in tokens where !context.historyTokens.contains(token) {
      context.historyTokens.append(token)
    }
    return context
  }

  /// Takes a response: what it tells of has come after all that its request has shown.
  private func note(
    _ result: Result<some HistoryAnswer, SyncError>,
    to context: RequestContext
  ) {
    switch result {
    case .success(let answer): replace(context.historyTokens, by: answer.historyToken)
    case .failure(let error):
      note(error: error)
      replace(context.historyTokens, by: error.historyToken)
    }
  }

  private func replace(_ shown: [ChangeToken], by token: ChangeToken?) {
    guard let token else { return }
    change { state in
      state.tokens.removeAll { shown.contains($0) || $0 == token }
      state.tokens.append(token)
    }
  }

  private func note(error: SyncError?) {
    guard let error, error.code == .zoneNotFound || error.code == .userDeletedZone else { return }
    state.withLock { $0.isLost = true }
  }

  /// Takes that a zone was made anew after it was lost: what was seen before is of the one that is gone.
  ///
  /// A session makes its zone too when it does not know of one; then nothing is forgotten.
  private func endLoss(of shown: [ChangeToken]) {
    change { state in
      if state.isLost { state.tokens.removeAll { shown.contains($0) } }
      state.isLost = false
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let changed = state.withLock { state -> [ChangeToken]? in
      let former = state.tokens
      body(&state)
      return state.tokens == former ? nil : state.tokens
    }
    if let changed { onChange?(changed) }
  }
}

extension Result {
  /// Why it failed; nil if it did not.
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
