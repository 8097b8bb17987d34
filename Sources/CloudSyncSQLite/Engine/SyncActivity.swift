/// What an engine is doing.
public struct SyncActivity: Sendable, Hashable {
  /// Whether it has been started.
  public var isRunning = false
  /// How many records are on their way to the cloud.
  public var sending = 0
  /// Whether it fetches.
  public var isFetching = false

  /// Whether records are on their way to the cloud.
  public var isSending: Bool { sending > 0 }
  /// Whether it sends or fetches.
  public var isSynchronizing: Bool { isSending || isFetching }

  /// Creates the activity of an engine at rest.
  public init() {}
}
