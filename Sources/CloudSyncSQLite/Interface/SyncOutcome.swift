public import CloudSyncCore

/// How a call of ``SyncEngine/syncChanges(upTo:)`` has ended.
public enum SyncOutcome: Sendable {
  /// Everything that was edited is in the cloud, but for what was refused, and everything there is here.
  case done
  /// The time is over; the engine goes on, and this is what it waits for.
  case waiting(Explanation)
  /// The session has halted over an error; ``SyncEngine/start()`` sets it going again.
  case halted(SyncError)
  /// The engine does not run.
  case stopped

  /// Whether everything is done.
  public var isDone: Bool { if case .done = self { true } else { false } }
}
