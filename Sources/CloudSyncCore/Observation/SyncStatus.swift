#if canImport(Observation)
public import Observation

/// What a user interface shows of a session.
///
/// It lives on the main actor, follows the session's newest state, and changes a property only when
/// its value is another one, so a view is drawn anew only for what it reads.
///
/// ```swift
/// @State private var status = SyncStatus(of: session)
/// // in a view's body:
/// if let error = status.haltedError { Text("Stopped: \(error.message)") }
/// ProgressView(value: Double(status.progress.done), total: Double(status.progress.submitted))
/// ```
///
/// It keeps neither the session alive nor is kept alive by it; after the session's end the last
/// values stay.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
public final class SyncStatus {
  /// Whether the session works: it was started, is not halted, and can use the account.
  public private(set) var isRunning = false
  /// Whether a request is in flight.
  public private(set) var isBusy = false
  /// How far the present run of work has come, from idle to idle.
  public private(set) var progress = SyncProgress()
  /// Modifications that have not completed.
  public private(set) var waitingOperations = 0
  /// Records that were set aside.
  public private(set) var parkedRecords = 0
  /// The error that stopped the session; nil while it is not stopped, and after `stop()`.
  public private(set) var haltedError: SyncError?
  /// The account's status as the provider last told it; nil before, and without a provider.
  public private(set) var accountStatus: AccountStatus?
  /// The error that made the session wait last, until something goes well.
  public private(set) var lastError: SyncError?
  /// When the session looks again by itself, if time alone changes anything.
  public private(set) var nextTry: Timestamp?
  /// Why the session is or is not working, in words, as of the last change of its state.
  public private(set) var explanation = ""

  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates a status that follows a session.
  public init(of session: CloudSyncSession) {
    let now = session.environment.now
    let states = session.statePublisher.values(buffering: .newest)
    update(from: session.state, at: now())
    following = Task { [weak self] in
      for await state in states { self?.update(from: state, at: now()) }
    }
  }

  deinit { following?.cancel() }

  private func update(from state: SyncState, at now: Timestamp) {
    let explained = state.explain(at: now)
    let halt = state.haltReason?.error
    set(property: \.isRunning, value: state.isRunning)
    set(property: \.isBusy, value: explained.operationMode != nil)
    set(property: \.progress, value: state.progress)
    set(property: \.waitingOperations, value: explained.waitingOperations)
    set(property: \.parkedRecords, value: explained.parkedRecords)
    set(property: \.haltedError, value: halt?.code == .stopped ? nil : halt)
    set(property: \.accountStatus, value: state.account.reported)
    set(property: \.lastError, value: state.lastRetryError)
    set(property: \.nextTry, value: explained.nextTry)
    set(property: \.explanation, value: explained.description)
  }

  /// Sets a property, unless it has the value already.
  private func set<Value: Equatable>(
    property: ReferenceWritableKeyPath<SyncStatus, Value>,
    value: Value
  ) {
    if self[keyPath: property] != value { self[keyPath: property] = value }
  }
}
#endif
