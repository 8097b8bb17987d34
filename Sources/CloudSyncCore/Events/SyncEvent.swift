/// What has happened, or was asked for: the only thing that changes a state.
///
/// Events keep the names that the Redux-like predecessors gave them. Every event is accepted in
/// every state; one that does not apply leaves the state as it was.
///
/// What is large lies behind a reference, but for what every operation brings.
public enum SyncEvent: Sendable {
  // MARK: Calls

  /// The app starts the session, or starts it again.
  case start
  /// The session stops: by `stop()`, or because of an error. Work is kept.
  indirect case halt(SyncError)
  /// The app gives everything up; a new epoch begins with this nonce.
  indirect case reset(nonce: UInt64)
  /// A session was made from stored bytes; a new epoch begins with this nonce.
  indirect case restored(nonce: UInt64, configuration: SyncConfiguration)
  /// Work is queued: an operation of the app's, or the creation of zone or subscription.
  case doWork(SyncWork)
  /// The app gives up an operation.
  indirect case cancel(OperationID)
  /// The app asks to try now, whatever the waits.
  case retryNow
  /// The app says that the network is back.
  case connectivityChanged
  /// The app asks for parked records to be sent again: these, or all.
  indirect case retryParked([RecordID]?)
  /// The app drops parked records: these, or all.
  indirect case dropParked([RecordID]?)
  /// The app has stored a page, or could not.
  indirect case acknowledge(PageID, PageAnswer)
  /// The app says that the account may have changed.
  case accountDidChange
  /// The app decides what becomes of the work after a switch of accounts; a new epoch may begin.
  indirect case resolveAccountSwitch(AccountSwitchDecision, nonce: UInt64)
  /// The app decides what becomes of a lost zone.
  indirect case decideZone(ZoneDecision)

  // MARK: Reports

  /// There is a provider that can be asked about the account.
  case accountProviderAttached
  /// The provider is being asked.
  case accountCheckStarted
  /// The provider's answer.
  indirect case accountStatusChanged(AccountStatus, AccountIdentity?)
  /// Another session of the account was asked to wait.
  indirect case gateClosed(Wait)
  /// The callbacks of all announcements before this number have returned.
  case delivered(upTo: UInt64)
  /// The timer fired.
  case woke
  /// A middleware has dropped an operation, or put something else in its place, on its way to the state.
  indirect case workDropped(SyncWork)

  // MARK: Requests and answers

  /// A request is made of what is queued.
  case startWork(SyncRequest)
  /// The request whose response was lost is made again, unchanged.
  case retryWork(SyncRequest)
  /// The handler's response: all is done.
  case workSuccess(Attempt, SyncWork.Result)
  /// The handler's response: it failed.
  indirect case workFailure(Attempt, SyncError)
  /// A response of which some items need a decision, as one verdict each.
  indirect case settleItems(Attempt, Settlement)
  /// Records that were looked up after a conflict, as one verdict each.
  indirect case resolveConflict(Attempt, Settlement)
  /// The request is sent again after a pause; unchanged if its response was lost.
  indirect case retry(Attempt, Retry)
  /// The request was too large, or one item of it spoils it: less is sent next time.
  indirect case split(Attempt, Split)
  /// The change token is too old: the fetch begins anew, from this token or from nothing.
  indirect case startOver(Attempt, ChangeToken?, SyncError)
  /// The fetch ends as failed.
  indirect case failFetch(Attempt, SyncError)

  /// Nothing.
  case noop
}

/// What is asked of the handler next.
public struct SyncRequest: Sendable {
  /// The kind of work.
  public var mode: OperationMode
  /// Whether records are looked up after a conflict; the mode is then ``OperationMode/fetch``.
  public var isLookup: Bool
  /// How much it may take of the queue; ``SplittingMiddleware`` decides it.
  public var limits: RequestLimits?

  /// Creates a request.
  public init(mode: OperationMode, isLookup: Bool = false, limits: RequestLimits? = nil) {
    self.mode = mode
    self.isLookup = isLookup
    self.limits = limits
  }
}

/// Why and when a request is sent again.
public struct Retry: Sendable {
  /// What went wrong.
  public var error: SyncError
  /// The pause before it.
  public var wait: Wait
  /// Whether the response was lost, so that the same request must be made again.
  public var isLost: Bool

  /// Creates a retry.
  public init(error: SyncError, wait: Wait, isLost: Bool = false) {
    self.error = error
    self.wait = wait
    self.isLost = isLost
  }
}

/// Why less is sent next time.
public struct Split: Sendable {
  /// What went wrong.
  public var error: SyncError
  /// Whether the request was too large: then the smaller size is remembered.
  public var isTooLarge: Bool

  /// Creates a split.
  public init(error: SyncError, isTooLarge: Bool) {
    self.error = error
    self.isTooLarge = isTooLarge
  }
}

/// What becomes of the work of one account when another signs in.
public enum AccountSwitchDecision: Int, Sendable, CaseIterable {
  /// The work is given up, and the new account starts empty.
  case discard
  /// The work goes to the new account, without the old one's change tags and tokens.
  case adopt
  /// Nothing is sent until the old account is back or the app decides otherwise.
  case wait

  package static let codedNames: [StaticString] = ["discard", "adopt", "wait"]
}

/// What becomes of a zone that is lost.
public enum ZoneDecision: Int, Sendable, CaseIterable {
  /// The zone is created again, and the work that is queued is sent to it.
  case recreate
  /// The work that is queued is given up, and nothing is sent until the app asks for the zone again.
  case abandon

  package static let codedNames: [StaticString] = ["recreate", "abandon"]
}

extension AccountSwitchDecision: CodedTag {}
extension ZoneDecision: CodedTag {}
