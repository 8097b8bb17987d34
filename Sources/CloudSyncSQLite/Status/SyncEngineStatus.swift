#if canImport(Observation)
public import CloudSyncCore
public import Observation

/// What a user interface shows of an engine.
///
/// Make one for the engine's whole life: it follows all of its runs, through stops, halts and renewals. It lives on the
/// main actor, and changes a property only when its value is another one, so a view is drawn anew only for what it
/// reads.
///
/// ```swift
/// @State private var status = SyncEngineStatus(of: engine)
/// // in a view's body:
/// if status.isSyncing { ProgressView(value: status.progress.fraction) }
/// if status.isWaiting { Text(status.explanation) }
/// ```
///
/// It does not keep the engine alive; after the engine's end the last values stay. ``SyncActivity`` has the same as a
/// value, where there is no Observation.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
public final class SyncEngineStatus {
  /// Whether the engine has been started.
  public private(set) var isRunning = false
  /// Whether it sends or fetches, and nothing is in the way.
  public private(set) var isSyncing = false
  /// Whether there is work to do that cannot be done now; ``explanation`` says why.
  public private(set) var isWaiting = false
  /// Whether the session has halted over an error, which ``haltedError`` is: `SyncEngine.start()` sets it going again.
  public private(set) var isHalted = false
  /// What the engine does or waits for, in words, as of the last change.
  public private(set) var explanation = ""
  /// When something is tried again by itself; nil if time alone changes nothing.
  public private(set) var nextAttempt: Timestamp?
  /// When everything was synced last, also before this launch; nil if it never was.
  public private(set) var lastSync: Timestamp?
  /// How many rows have edits that the cloud has not got, as far as the edits have been looked at.
  public private(set) var pendingRows = 0
  /// How far the present run of work has come, or how the last one has ended.
  public private(set) var progress = SyncActivity.Progress()
  /// The cloud's error that is waited for, or over which the session has halted; nil once something goes well.
  public private(set) var cloudError: SyncError?
  /// The database's error that is waited for, or that has stopped the engine; nil once something goes well.
  public private(set) var databaseError: SyncEngineError?
  /// The error over which the session has halted; nil while it is not halted.
  public private(set) var haltedError: SyncError?
  /// What the app has to decide; nil if nothing.
  public private(set) var question: SyncQuestion?

  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates a status that follows what an engine publishes.
  init(following publisher: SyncPublisher<SyncActivity>, from activity: SyncActivity) {
    update(from: activity)
    let activities = publisher.values(buffering: .newest)
    following = Task { [weak self] in
      for await activity in activities { self?.update(from: activity) }
    }
  }

  deinit { following?.cancel() }

  private func update(from activity: SyncActivity) {
    set(property: \.isRunning, value: activity.isRunning)
    set(property: \.isSyncing, value: activity.isSyncing)
    set(property: \.isWaiting, value: activity.isWaiting)
    set(property: \.isHalted, value: activity.isHalted)
    set(property: \.explanation, value: activity.explanation)
    set(property: \.nextAttempt, value: activity.nextAttempt)
    set(property: \.lastSync, value: activity.lastSync)
    set(property: \.pendingRows, value: activity.pendingRows)
    set(property: \.progress, value: activity.progress)
    set(property: \.cloudError, value: activity.cloudError)
    set(property: \.databaseError, value: activity.databaseError)
    set(property: \.haltedError, value: activity.haltedError)
    set(property: \.question, value: activity.question)
  }

  /// Sets a property, unless it has the value already.
  private func set<Value: Equatable>(
    property: ReferenceWritableKeyPath<SyncEngineStatus, Value>,
    value: Value
  ) {
    if self[keyPath: property] != value { self[keyPath: property] = value }
  }
}
#endif
