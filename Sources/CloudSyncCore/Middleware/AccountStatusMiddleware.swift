/// Asks about the user's account.
///
/// Conform to it, or pass a closure to ``AccountStatusMiddleware``. Call the completion once, from
/// any thread; a response that never comes is asked for again after the session's timeout.
public struct AccountStatusProvider: Sendable {
  /// Takes the status, and an opaque name of the account if there is one.
  public typealias Completion = @Sendable (AccountStatus, AccountIdentity?) -> Void

  let ask: @Sendable (@escaping Completion) -> Void

  /// Creates a provider.
  public init(_ ask: @escaping @Sendable (@escaping Completion) -> Void) { self.ask = ask }
}

/// Keeps the account's status: asks at every start, after a restore before anything is sent, when
/// the app says that the account changed, and again while it is away.
///
/// Append it to a session; without it the session has one nameless account that is always good.
public struct AccountStatusMiddleware: Middleware {
  private let provider: AccountStatusProvider

  /// Creates the middleware.
  public init(provider: AccountStatusProvider) { self.provider = provider }

  /// Creates the middleware from a closure that finds out the status.
  public init(_ ask: @escaping @Sendable (@escaping AccountStatusProvider.Completion) -> Void) {
    provider = AccountStatusProvider(ask)
  }

  /// Tells the state that there is somebody to ask.
  public var attachmentEvents: [SyncEvent] { [.accountProviderAttached] }

  /// Asks when the state wants it.
  public func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced = next(event)
    if case .accountCheckStarted = reduced {
      if context.didChange { context.askAccount(provider) }
    } else if context.state.isAccountCheckDue, context.isLastEvent, !context.isCheckWanted {
      // One that a middleware drops is wanted again when something else happens: at once would be for ever.
      context.dispatch(.accountCheckStarted)
    }
    return reduced
  }
}
