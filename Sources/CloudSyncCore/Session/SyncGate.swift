/// A gate that the sessions of one account share: when the cloud asks one of them to wait, all wait.
public final class SyncGate: Sendable {
  private struct Member: Sendable {
    weak var session: CloudSyncSession?
  }

  private let members = Locked<[Member]>([])

  /// Creates an open gate.
  public init() {}

  func join(_ session: CloudSyncSession) {
    let others = members.withLock { members in
      let others = members.compactMap(\.session)
      members = others.map(Member.init) + [Member(session: session)]
      return others
    }
    // Released after the lock: the last release of a session runs completions.
    _ = consume others
  }

  /// Tells the other sessions what one of them was told.
  func close(_ wait: Wait, by session: CloudSyncSession) {
    let others = members.withLock { $0.compactMap(\.session) }
    for other in others where other !== session {
      other.post(.event(.gateClosed(wait), .report))
    }
  }
}
