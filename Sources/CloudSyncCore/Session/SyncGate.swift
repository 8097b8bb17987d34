/// A gate that the sessions of one account share: when the cloud asks one of them to wait, all wait.
///
/// A session that is made later waits for the rest of the time too. A gate lives as long as the
/// process; across restarts each session's own stored state tells it how long to wait.
public final class SyncGate: Sendable {
  fileprivate struct Member: Sendable {
    weak var inbox: Inbox?
  }

  fileprivate struct State: Sendable {
    var members: [Member] = []
    /// How many members there may be before those that are gone are looked for.
    var mostMembers = 8
    /// What the cloud asked for last, and until when that holds.
    var closed: (wait: Wait, deadline: Deadline)?
  }

  private let state = Locked(State())

  /// Creates an open gate.
  public init() {}

  /// Adds a session, which is told at once what is left of the wait; what an earlier process has
  /// left it to wait for holds for the others too.
  func join(_ inbox: Inbox, restoring servers: Deadline?, at now: Timestamp) {
    let (others, wait) = state.withLock { state -> ([Inbox], Wait?) in
      let others = state.forgetReleased()
      state.members.append(Member(inbox: inbox))
      return (others, state.remainingWait(at: now))
    }
    // Released after the lock: the last release of an inbox releases what waits in it.
    _ = consume others
    if let wait { inbox.post(.event(.gateClosed(wait), .report)) }
    guard let servers, servers.end(at: now) > now else { return }
    close(for: .decided(until: servers.end(at: now), at: now, cause: .service), by: inbox, at: now)
  }

  /// Tells the other sessions what one of them was told.
  func close(for wait: Wait, by inbox: Inbox, at now: Timestamp) {
    let others = state.withLock { state in
      state.remember(wait, at: now)
      return state.members.compactMap(\.inbox)
    }
    for other in others where other !== inbox {
      other.post(.event(.gateClosed(wait), .report))
    }
  }
}

extension SyncGate.State {
  /// Forgets the members that are gone, whenever there are twice as many as there were; returns the
  /// others that it has looked at.
  mutating func forgetReleased() -> [Inbox] {
    guard members.count >= mostMembers else { return [] }
    let others = members.compactMap(\.inbox)
    members = others.map(SyncGate.Member.init)
    mostMembers = max(8, members.count * 2)
    return others
  }

  /// Keeps what ends later: the new wait, or what is left of the last one.
  mutating func remember(_ wait: Wait, at now: Timestamp) {
    let asked = min(wait.serverNanoseconds ?? 0, Backoff.longestServerWait)
    let length = max(asked, wait.nanoseconds ?? 0)
    closed?.deadline.clamp(at: now)
    let deadline = Deadline(from: now, nanoseconds: length)
    if let closed, closed.deadline.until >= deadline.until { return }
    closed = (wait, deadline)
  }

  /// What is left of the last wait, if anything is.
  mutating func remainingWait(at now: Timestamp) -> Wait? {
    closed?.deadline.clamp(at: now)
    guard let closed, !closed.deadline.isPassed(at: now) else { return nil }
    return .decided(until: closed.deadline.until, at: now, cause: closed.wait.cause)
  }
}

extension Wait {
  /// The rest of a wait that a server asked for.
  ///
  /// Its length is decided, jitter included: it is not to grow with
  /// every session that is told of it.
  fileprivate static func decided(until end: Timestamp, at now: Timestamp, cause: Cause) -> Wait {
    var wait = Wait(cause, serverNanoseconds: now.distance(to: end))
    wait.nanoseconds = wait.serverNanoseconds
    return wait
  }
}
