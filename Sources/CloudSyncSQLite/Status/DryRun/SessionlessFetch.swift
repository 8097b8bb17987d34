import CloudSyncCore

/// Fetches what is new, or everything, without a session.
final class SessionlessFetch: Sendable {
  /// What the cloud has.
  struct Fetched: Sendable {
    var pages: [FetchOperation.Response] = []
    /// Whether there is such a zone.
    var hasZone = true
  }

  private struct State {
    var fetched = Fetched()
    var token: ChangeToken?
    var number: UInt64 = 1
    var startedOver: Bool
  }

  /// An answer, which may come before the call returns, later, and twice.
  private enum Call {
    case made
    case returned
    case answered(Result<FetchOperation.Response, SyncError>)
    case over
  }

  private let handler: any OperationHandler
  private let historyTokens: [ChangeToken]
  private let environment: SyncEnvironment
  private let pageHandler: (@Sendable (FetchOperation.Response) -> Void)?
  private let completion: @Sendable (Result<Fetched, SyncError>) -> Void
  private let state: Locked<State>

  /// Creates a fetch.
  ///
  /// - Parameters:
  ///   - handler: Talks to the cloud.
  ///   - token: Where it begins; nil for everything.
  ///   - historyTokens: What the cloud has told of its history.
  ///   - environment: The clock.
  ///   - pageHandler: Takes the pages one by one, which are not kept then.
  ///   - completion: Called once, on any thread.
  init(
    _ handler: any OperationHandler,
    after token: ChangeToken?,
    showing historyTokens: [ChangeToken] = [],
    _ environment: SyncEnvironment,
    pageHandler: (@Sendable (FetchOperation.Response) -> Void)? = nil,
    completion: @escaping @Sendable (Result<Fetched, SyncError>) -> Void
  ) {
    self.pageHandler = pageHandler
    self.handler = handler
    self.historyTokens = historyTokens
    self.environment = environment
    self.completion = completion
    state = Locked(State(token: token, startedOver: token == nil))
  }

  /// Fetches page after page; what is answered at once is taken in a loop, so that the stack stays low.
  func run() {
    var goesOn = true
    while goesOn {
      let call = Locked(Call.made)
      let (token, number) = state.withLock { ($0.token, $0.number) }
      let context = RequestContext(
        attempt: Attempt(epoch: 0, number: number),
        writeToken: WriteToken(nonce: 0, number: 0),
        deadline: environment.now().adding(SyncConfiguration().timeout),
        historyTokens: historyTokens
      )
      handler.handle(fetchOperation: FetchOperation(changeToken: token), context: context) {
        [self] answer in
        let isLate = call.withLock { call in
          switch call {
          case .made: call = .answered(answer)
          case .returned:
            call = .over
            return true
          case .answered, .over: break
          }
          return false
        }
        if isLate, take(answer) { run() }
      }
      let answer = call.withLock { call -> Result<FetchOperation.Response, SyncError>? in
        guard case .answered(let answer) = call else {
          call = .returned
          return nil
        }
        call = .over
        return answer
      }
      goesOn = answer.map(take) ?? false
    }
  }

  /// Takes an answer; returns whether there is more to fetch.
  private func take(_ answer: Result<FetchOperation.Response, SyncError>) -> Bool {
    if let pageHandler, case .success(let page) = answer { pageHandler(page) }
    let result = state.withLock { state -> Result<Fetched, SyncError>? in
      switch answer {
      case .success(var page):
        page.startedOver = page.startedOver || state.startedOver
        page.isBeginning = state.token == nil
        page.previousToken = state.token
        page.page = PageID(number: state.number)
        state.number += 1
        state.token = page.changeToken ?? state.token
        if pageHandler == nil { state.fetched.pages.append(page) }
        return page.isLast ? .success(state.fetched) : nil
      case .failure(let error) where [.zoneNotFound, .userDeletedZone].contains(error.code):
        return .success(Fetched(hasZone: false))
      case .failure(let error) where error.code == .changeTokenExpired && state.token != nil:
        state.token = nil
        state.startedOver = true
        return nil
      case .failure(let error): return .failure(error)
      }
    }
    if let result { completion(result) }
    return result == nil
  }
}
