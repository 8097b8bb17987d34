import CloudSyncCore
import CloudSyncSQLite

/// Lets nothing be sent before it is known who is signed in, and nothing of one account's go to another.
final class AccountWatch: Sendable {
  private enum Answer: Sendable {
    /// The provider has not told, or is asked again.
    case none
    case ready
    case trouble(ChangesetError)
  }

  private struct State {
    var answer = Answer.none
    /// Those who wait for an answer.
    var waiting: [CheckedContinuation<ChangesetError?, Never>] = []
  }

  private let session: CloudSyncSession
  private let repository: ChangesetRepository
  private let calls: RemoteCalls
  private let hasProvider: Bool
  private let state = Locked(State())
  private let subscriptions = Locked<[SyncSubscription]>([])

  init(
    session: CloudSyncSession,
    repository: ChangesetRepository,
    calls: RemoteCalls,
    provider: AccountStatusProvider?
  ) {
    self.session = session
    self.repository = repository
    self.calls = calls
    hasProvider = provider != nil
    if let provider { session.appendMiddleware(AccountStatusMiddleware(provider: provider)) }
    let status = session.accountStatusSubject.sink { [weak self] _ in self?.look() }
    let states = session.statePublisher.sink { [weak self] state in
      // Without a provider the cloud's answers tell. States come in order: once one is good, no older one
      // follows that is not.
      switch state.accountState {
      case .away(let trouble): calls.begin(trouble: .account, error: ChangesetError(trouble))
      case .noProvider where provider == nil: self?.tell(answer: .ready)
      // Of a provider, also one that the app has given to the session, its answers tell.
      case .noProvider, .asking, .ready, .switched: break
      }
    }
    subscriptions.withLock { $0 = [status, states] }
  }

  /// Starts the session, and waits until the account is known to be the history's.
  func begin() async throws(ChangesetError) {
    session.start()
    let error = await withCheckedContinuation { continuation in
      // What the session tells of before this call is no answer to it, and may come until then.
      session.tellInTurn { self.ask(for: continuation) }
    }
    if let error { throw error }
  }

  /// Asks anew where something was wrong with the account, as that may have changed since.
  private func ask(for continuation: CheckedContinuation<ChangesetError?, Never>) {
    guard session.state.haltReason == nil, isInTrouble else { return listen(for: continuation) }
    session.accountDidChange()
    // An answer to a question from before may come until the session has heard of this one.
    session.tellInTurn { self.listen(for: continuation) }
  }

  /// Waits for the answer, if what is known already is none.
  private func listen(for continuation: CheckedContinuation<ChangesetError?, Never>) {
    if let reason = session.state.haltReason {
      return continuation.resume(returning: ChangesetError(reason.error))
    }
    calls.end(trouble: .halt)
    calls.end(trouble: .account)
    guard hasProvider || session.state.isAccountCheckOpen else {
      return continuation.resume(returning: known)
    }
    state.withLock { state in
      state.answer = .none
      state.waiting.append(continuation)
    }
    look()
  }

  /// Whether the account was not the history's when it was looked at last.
  private var isInTrouble: Bool {
    switch session.state.accountState {
    case .away, .switched: true
    case .asking, .ready, .noProvider: known != nil
    }
  }

  /// What is known of an account that a provider of the session's tells; nil if nothing is wrong with it.
  private var known: ChangesetError? {
    if case .trouble(let error) = state.withLock({ $0.answer }) { error } else { nil }
  }

  /// Looks at what the provider has told; while it is being asked, that is from before.
  private func look() {
    let session = session.state
    if session.isAccountCheckOpen { return }
    switch session.accountState {
    case .ready(let owner?):
      do throws(ChangesetError) {
        try RemoteState.claim(account: owner, in: repository)
        tell(answer: .ready)
      } catch { tell(answer: .trouble(error)) }
    case .ready(nil): tell(answer: .ready)
    case .switched: tell(answer: .trouble(.anotherAccount))
    case .away(let trouble): tell(answer: .trouble(ChangesetError(trouble)))
    case .noProvider: if !hasProvider { tell(answer: .ready) }
    case .asking: break
    }
  }

  /// Ends all that waits: for the account, or for the cloud.
  func fail(error: ChangesetError, trouble: RemoteCalls.Trouble) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: error) }
    calls.begin(trouble: trouble, error: error)
  }

  private func tell(answer: Answer) {
    state.withLock { $0.answer = answer }
    if case .trouble(let error) = answer { return fail(error: error, trouble: .account) }
    calls.end(trouble: .account)
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  func adopt() throws(ChangesetError) {
    guard case .switched(_, let newcomer) = session.state.accountState else {
      throw ChangesetError(.misuse, "no other account has signed in than the history's own")
    }
    try RemoteState.adopt(account: newcomer, in: repository)
    session.resolveAccountSwitch(.adopt)
    tell(answer: .ready)
  }
}

extension ChangesetError {
  /// What it means for a history that the account cannot be used.
  init(_ trouble: AccountTrouble) {
    let what =
      switch trouble {
      case .signedOut: "nobody is signed in"
      case .temporarilyUnavailable: "the account is not ready yet"
      case .restricted: "the device restricts the use of accounts"
      case .undetermined: "who is signed in cannot be found out"
      }
    self.init(.cloud, "the cloud cannot be reached: \(what)")
  }
}
