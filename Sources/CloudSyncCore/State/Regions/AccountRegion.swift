/// What a session knows of the user's account.
public enum AccountState: Sendable {
  /// There is no provider: the session has one nameless account that is always good.
  case noProvider
  /// The provider has not answered yet.
  case asking
  /// The account can be used.
  case ready(AccountIdentity?)
  /// The account cannot be used.
  case away(AccountTrouble)
  /// Another account signed in than the one that the work belongs to: nothing is sent until the app
  /// has called ``CloudSyncSession/resolveAccountSwitch(_:)``.
  case switched(from: AccountIdentity, to: AccountIdentity)
}

/// The account, and when to ask about it.
package struct AccountRegion: Sendable {
  package var status = AccountState.noProvider
  package var hasProvider = false
  /// The account that the work belongs to.
  package var owner: AccountIdentity?
  /// The provider's last response.
  package var reported: AccountStatus?
  /// Whether the provider is to be asked.
  package var isCheckDue = false
  /// Until when a response of the provider is waited for.
  package var check: Deadline?
  /// When an account that is away is tried again.
  package var nextTry: Deadline?

  package var isGood: Bool {
    switch status {
    case .noProvider, .ready: true
    case .asking, .away, .switched: false
    }
  }

  // MARK: The provider

  /// Notes that there is somebody to ask; false if that was known.
  mutating func attachProvider() -> Bool {
    guard !hasProvider else { return false }
    hasProvider = true
    status = .asking
    isCheckDue = true
    return true
  }

  /// Has the provider asked; without one, an account that was away is tried again.
  ///
  /// - Parameter isUrgent: Whether to ask also while a response is waited for.
  mutating func ask(isUrgent: Bool) {
    guard hasProvider else { return trust() }
    nextTry = nil
    switch status {
    case .ready, .away, .noProvider: status = .asking
    case .asking, .switched: break
    }
    guard isUrgent else { return }
    check = nil
    isCheckDue = true
  }

  private mutating func trust() {
    guard case .away = status else { return }
    status = .noProvider
    nextTry = nil
  }

  /// Notes that the provider is being asked; false if nobody wants to know.
  mutating func beginCheck(timeout: Int64, at now: Timestamp) -> Bool {
    guard hasProvider, isCheckDue else { return false }
    isCheckDue = false
    check = Deadline(from: now, nanoseconds: timeout)
    return true
  }

  // MARK: What it tells

  /// Takes the account that is signed in.
  mutating func signIn(_ identity: AccountIdentity?) {
    // The wait keeps its length until something goes well: the provider and the cloud may disagree.
    nextTry = nil
    // Nobody knows who that is: it may be the newcomer still.
    if identity == nil, case .switched = status { return }
    if let owner, let identity, identity != owner {
      status = .switched(from: owner, to: identity)
      return
    }
    owner = identity ?? owner
    status = .ready(owner)
  }

  /// Whether the account may become unusable: a quarantine is lifted only by the owner's return or the app.
  var canBeLost: Bool {
    if case .switched = status { false } else { true }
  }

  /// Waits until the account is ready.
  mutating func lose(over trouble: AccountTrouble, askAgain: Deadline) {
    status = .away(trouble)
    nextTry = askAgain
  }

  /// Gives the session's work to the account that signed in.
  mutating func adopt(_ newcomer: AccountIdentity) {
    owner = newcomer
    status = .ready(newcomer)
  }

  /// Goes on in a new process: what the provider was asked is lost.
  mutating func restore() {
    check = nil
    isCheckDue = hasProvider
    if hasProvider, case .ready = status { status = .asking }
  }

  // MARK: Time

  /// Asks again when the time has come; false if it has not.
  mutating func wake(at now: Timestamp) -> Bool {
    var didChange = false
    if let time = nextTry, time.isPassed(at: now) {
      nextTry = nil
      ask(isUrgent: true)
      didChange = true
    }
    if let deadline = check, deadline.isPassed(at: now) {
      check = nil
      isCheckDue = true
      didChange = true
    }
    return didChange
  }

  /// Moves deadlines that a clock set back has pushed away.
  mutating func clamp(at now: Timestamp) {
    check?.clamp(at: now)
    nextTry?.clamp(at: now)
  }
}

extension AccountState: CodedValue {
  private static let names: [StaticString] = ["noProvider", "asking", "ready", "away", "switched"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .noProvider: $0.tag(0, of: Self.names)
      case .asking: $0.tag(1, of: Self.names)
      case .ready(let identity):
        $0.tag(2, of: Self.names)
        $0.field("identity", identity)
      case .away(let trouble):
        $0.tag(3, of: Self.names)
        $0.field("trouble", trouble)
      case .switched(let from, let to):
        $0.tag(4, of: Self.names)
        $0.field("from", from)
        $0.field("to", to)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .noProvider
    case 1: self = .asking
    case 2: self = .ready(try reader.field("identity"))
    case 3: self = .away(try reader.field("trouble"))
    default: self = .switched(from: try reader.field("from"), to: try reader.field("to"))
    }
    try reader.endObject()
  }
}

extension AccountRegion: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    status = try coder.field("status") { $0.status }
    hasProvider = try coder.field("hasProvider") { $0.hasProvider }
    owner = try coder.field("owner") { $0.owner }
    reported = try coder.field("reported") { $0.reported }
    isCheckDue = try coder.field("isCheckDue") { $0.isCheckDue }
    check = try coder.field("check") { $0.check }
    nextTry = try coder.field("nextTry") { $0.nextTry }
  }
}
