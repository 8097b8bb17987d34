/// A gate that the sessions of one account share: when the cloud asks one of them to wait, all wait.
public final class SyncGate: Sendable {
  private struct Member: Sendable {
    weak var session: CloudSyncSession?
  }

  private let members = Locked<[Member]>([])

  /// Creates an open gate.
  public init() {}

  func join(_ session: CloudSyncSession) {
    members.withLock { members in
      members.removeAll { $0.session == nil }
      members.append(Member(session: session))
    }
  }

  /// Tells the other sessions what one of them was told.
  func close(_ wait: Wait, by session: CloudSyncSession) {
    let others = members.withLock { $0.compactMap(\.session) }
    for other in others where other !== session {
      other.post(.event(.gateClosed(wait), .report))
    }
  }
}
