public import CloudSyncCore

/// A call by which an app waits for its session, at most for a while.
public struct WaitingCall: Sendable, Hashable {
  /// What it waits for.
  public enum Wish: String, Sendable, Hashable {
    /// That the session is at rest.
    case idle
    /// That what has changed is fetched, as after a push.
    case fetchNow
  }

  /// What it has come to.
  public enum Outcome: Sendable, Hashable {
    /// Whether the session came to rest in time.
    case idle(Bool)
    /// What the fetch brought in time.
    case fetchNow(FetchOutcome)
    /// Nothing: the app has let the session go.
    case abandoned
  }

  /// Counts the calls of a simulation.
  public let number: Int
  /// What it waits for.
  public let wish: Wish
  /// For how long at most.
  public let limit: Duration
}

extension WaitingCall: CustomStringConvertible {
  /// The call as it is written.
  public var description: String { "\(wish)(upTo: \(limit))" }
}
