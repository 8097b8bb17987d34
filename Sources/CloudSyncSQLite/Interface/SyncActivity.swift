public import CloudSyncCore

/// What an engine is doing, and what it waits for.
///
/// It is the value behind `SyncEngineStatus`, for those who have no Observation.
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
  /// How many rows have edits that the cloud has not got, as far as the edits have been looked at.
  ///
  /// Those in flight are among them, and those that were rejected.
  public var pendingRows = 0
  /// How far the present run of work has come, or how the last one has ended.
  public var progress = Progress()
  /// When everything was synced last; nil if it never was.
  ///
  /// Then everything that the cloud had is here, and everything that could be sent is in the cloud. The time is the
  /// environment's, and kept in the database.
  public var lastSync: Timestamp?
  /// Whether there is work to do that cannot be done now; ``explanation`` says why.
  public var isWaiting = false
  /// When something is tried again by itself; nil if time alone changes nothing.
  public var nextAttempt: Timestamp?
  /// What the engine does or waits for, in words, as of the last change.
  public var explanation = "Not started."
  /// The cloud's error that is waited for, or over which the session has halted; nil once something goes well.
  public var cloudError: SyncError?
  /// The database's error that is waited for, or that has stopped the engine; nil once something goes well.
  public var databaseError: SyncEngineError?
  /// What the app has to decide; nil if nothing.
  public var question: SyncQuestion?

  /// Whether records are on their way to the cloud.
  public var isSending: Bool { sending > 0 }
  /// Whether it sends or fetches, or waits until it can; see ``isSyncing``.
  public var isSynchronizing: Bool { isSending || isFetching }

  /// Whether it sends or fetches, and does not wait: what a user interface shows as activity.
  public var isSyncing: Bool { isSynchronizing && !isWaiting }
  /// The error over which the session has halted; nil while it is not halted.
  public var haltedError: SyncError? { isHalted ? cloudError : nil }

  /// Creates the activity of an engine at rest.
  public init() {}
}

extension SyncActivity {
  /// How far a run of work has come, from idle to idle.
  ///
  /// It goes on where it was after a stop, a halt, or a wait. When all is done ``done`` is ``total``.
  public struct Progress: Sendable, Hashable {
    /// How many rows there are to send in this run of work; more may be found while it lasts.
    public internal(set) var total = 0
    /// How many of them are done: the cloud has them, or need not get them any more.
    public internal(set) var done = 0
    /// How many changed or deleted records of others were fetched in this run of work; how many are left, nobody knows.
    public internal(set) var received = 0
    /// Whether the run of work is over, or none has begun.
    public internal(set) var isEnded = true

    /// Creates the progress of an engine that has done nothing.
    public init() {}

    /// From 0 to 1 while rows are sent, and 1 in the end; nil while nobody knows how much is left, as when the rest is
    /// fetched.
    public var fraction: Double? {
      if isEnded { return 1 }
      return done < total ? Double(done) / Double(total) : nil
    }
  }
}

extension SyncActivity.Progress {
  /// Notes how much is left, and how much was fetched since the last note.
  mutating func note(left: Int, received more: Int, isAtRest: Bool) {
    if isEnded {
      if isAtRest, more == 0 { return }
      self = Self()
      isEnded = false
    }
    let growth = left - (total - done)
    if growth > 0 { total += growth } else { done -= growth }
    received += more
    guard isAtRest else { return }
    // What was rejected is not tried before its time: it is the work of another run.
    total = done
    isEnded = true
  }
}

/// How many records an engine has dealt with since it was made.
public struct SyncCounts: Sendable, Hashable {
  /// Saved and deleted in the cloud for rows of this database.
  public var sent = 0
  /// Told by the cloud as changed or deleted; what is known here already, as this device's own edits, is not counted.
  public var received = 0
  /// Merged with rows that had been edited here too.
  public var merged = 0
  /// Rows that have become one with others; ``SyncEngine/unitedRows`` tells which.
  public var united = 0
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
    total.united += more.united
    total.parked += more.parked
    total.pending += more.pending
  }
}
