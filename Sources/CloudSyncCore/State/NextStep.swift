/// What a state wants to happen next.
public enum NextStep: Sendable, Hashable {
  /// This request is to be made.
  case request(SyncRequest)
  /// Nothing is to be sent, for these reasons; the time to look again, if time alone changes anything.
  case wait(WaitReasons, until: Timestamp?)
}

/// Why a session sends nothing.
public struct WaitReasons: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt16

  /// Creates a set from its bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A request is in flight.
  public static let inFlight = Self(rawValue: 1 << 0)
  /// The session was never started.
  public static let notStarted = Self(rawValue: 1 << 1)
  /// The session is stopped.
  public static let stopped = Self(rawValue: 1 << 2)
  /// The account's status is not known yet.
  public static let accountUnknown = Self(rawValue: 1 << 3)
  /// The account cannot be used.
  public static let accountAway = Self(rawValue: 1 << 4)
  /// Another account signed in, and the app has to decide.
  public static let accountSwitched = Self(rawValue: 1 << 5)
  /// The gate is closed.
  public static let gate = Self(rawValue: 1 << 6)
  /// The zone is lost, and the app has to decide; or it was refused.
  public static let zone = Self(rawValue: 1 << 7)
  /// A page waits for the app's acknowledgement.
  public static let acknowledgement = Self(rawValue: 1 << 8)
  /// The storage is full; saves wait for the next probe.
  public static let quota = Self(rawValue: 1 << 9)
  /// There is nothing to do.
  public static let idle = Self(rawValue: 1 << 10)
}

extension SyncState {
  /// Says what is to happen next: the request to make, or why none is made and when to look again.
  ///
  /// It is a pure function, evaluated after every event: no wake-up can be lost, because none is
  /// remembered anywhere else.
  ///
  /// - Complexity: O(1).
  public func next(at now: Timestamp) -> NextStep { contents.value.next(at: now) }

  /// Whether the account's provider is to be asked now.
  package var isAccountCheckDue: Bool {
    guard account.isCheckDue, case .running = phase else { return false }
    return true
  }

  /// Whether the account's provider is to be asked or is being asked: what is known is from before.
  package var isAccountCheckOpen: Bool { account.isCheckDue || account.check != nil }

  /// Whether a clock that was set back has pushed a deadline away.
  package func hasDistantDeadline(at now: Timestamp) -> Bool {
    contents.value.hasDistantDeadline(at: now)
  }

  /// How long to wait for a cause that has struck once more.
  package func waitLength(for wait: Wait) -> Int64 { contents.value.waitLength(for: wait) }
}
