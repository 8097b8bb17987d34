/// What an engine is doing.
public struct SyncActivity: Sendable, Hashable {
  /// Whether it has been started.
  public var isRunning = false
  /// How many records are on their way to the cloud.
  public var sending = 0
  /// Whether it fetches.
  public var isFetching = false
  /// Whether the session has halted over an error: then nothing is sent or fetched before the next start.
  public var isHalted = false
  /// How much has been done, and how much is left.
  public var counts = SyncCounts()

  /// Whether records are on their way to the cloud.
  public var isSending: Bool { sending > 0 }
  /// Whether it sends or fetches.
  public var isSynchronizing: Bool { isSending || isFetching }

  /// Creates the activity of an engine at rest.
  public init() {}
}

/// How many records an engine has dealt with since it was made.
public struct SyncCounts: Sendable, Hashable {
  /// Saved and deleted in the cloud for rows of this database.
  public var sent = 0
  /// Told by the cloud as changed or deleted, this device's own edits among them.
  public var received = 0
  /// Merged with rows that had been edited here too.
  public var merged = 0
  /// Set aside because the cloud or SQLite refused them.
  public var parked = 0
  /// Edited and not on their way yet, as far as the edits have been looked at.
  public var pending = 0

  /// Creates counts of nothing.
  public init() {}

  static func += (total: inout SyncCounts, more: SyncCounts) {
    total.sent += more.sent
    total.received += more.received
    total.merged += more.merged
    total.parked += more.parked
    total.pending += more.pending
  }
}
