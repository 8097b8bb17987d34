/// The complete, replayable state of a session.
///
/// A state is a value: two sessions that reduce the same events from the same state are equal,
/// whatever the clock, the network, or the thread. Everything that varies arrives inside a
/// ``SyncEvent``, and ``reduce(_:at:)`` is the only way a state changes.
///
/// Queues and keyed collections are persistent values, so keeping every state that a session goes
/// through costs little, and a change costs the same at any length of the queues.
public struct SyncState: Sendable {
  /// Everything, behind one reference: states are copied far more often than they are changed.
  var contents: CopyOnWrite<SyncRegions>

  /// Creates the state of a new session.
  ///
  /// - Parameters:
  ///   - zoneID: The zone that the session synchronizes.
  ///   - configuration: Limits, budgets and policies.
  ///   - nonce: Where everything that must look random comes from; another one for each session.
  public init(zoneID: ZoneID, configuration: SyncConfiguration = .init(), nonce: UInt64 = 0) {
    let cold = CopyOnWrite(ColdState(zoneID: zoneID, configuration: configuration))
    contents = CopyOnWrite(SyncRegions(nonce: nonce, cold: cold))
  }

  /// Applies an event to the state.
  ///
  /// This is the only way a state changes. It is total and pure: every event is accepted in every
  /// state, an event that does not apply leaves everything but ``eventCount`` as it was, and
  /// nothing outside the state, the event and the time is read.
  ///
  /// - Parameters:
  ///   - event: The event to apply.
  ///   - now: When the input that led to it was taken.
  /// - Returns: Whether the event applied.
  /// - Complexity: O(1) amortized in the number of queued operations, but for events that end all
  ///   of them.
  @discardableResult
  public mutating func reduce(_ event: SyncEvent, at now: Timestamp) -> Bool {
    contents.value.reduce(event, at: now)
  }

  /// How many events have been reduced.
  public package(set) var eventCount: UInt64 {
    get { contents.value.eventCount }
    _modify { yield &contents.value.eventCount }
  }
  /// Counts the lives of the session: `reset()`, a restore and an account decision begin a new one.
  public package(set) var epoch: UInt64 {
    get { contents.value.epoch }
    _modify { yield &contents.value.epoch }
  }
  /// The epoch's source of everything that must look random.
  package var nonce: UInt64 {
    get { contents.value.nonce }
    _modify { yield &contents.value.nonce }
  }
  /// The number of the next operation.
  package var nextOperation: UInt64 {
    get { contents.value.nextOperation }
    _modify { yield &contents.value.nextOperation }
  }
  /// The number of the next attempt.
  package var nextAttempt: UInt64 {
    get { contents.value.nextAttempt }
    _modify { yield &contents.value.nextAttempt }
  }
  /// One more than the requests that the cloud has carried out, at least in part: what shows that it
  /// can be reached.
  package var answered: UInt64 {
    get { contents.value.answered }
    _modify { yield &contents.value.answered }
  }
  /// The kind of the last modification or fetch that was sent, for taking turns.
  package var lastTurn: OperationMode? {
    get { contents.value.lastTurn }
    _modify { yield &contents.value.lastTurn }
  }
  /// The gate before every request.
  package var gate: GateRegion {
    get { contents.value.gate }
    _modify { yield &contents.value.gate }
  }
  /// The request whose response is waited for.
  package var flight: Flight? {
    get { contents.value.flight }
    _modify { yield &contents.value.flight }
  }
  /// The modifications.
  package var modify: ModifyRegion {
    get { contents.value.modify }
    _modify { yield &contents.value.modify }
  }
  /// What is to be announced.
  package var notifications: PendingNotifications {
    get { contents.value.notifications }
    _modify { yield &contents.value.notifications }
  }
  /// How far the present run of work has come, from idle to idle.
  public package(set) var progress: SyncProgress {
    get { contents.value.progress }
    _modify { yield &contents.value.progress }
  }
  /// The regions that few events change.
  package var cold: CopyOnWrite<ColdState> {
    get { contents.value.cold }
    _modify { yield &contents.value.cold }
  }
}

extension SyncState {
  package var configuration: SyncConfiguration {
    get { cold.value.configuration }
    _modify { yield &cold.value.configuration }
  }
  /// Whether the session is running, was stopped, or waits for its start.
  public package(set) var phase: SessionPhase {
    get { cold.value.phase }
    _modify { yield &cold.value.phase }
  }
  package var account: AccountRegion {
    get { cold.value.account }
    _modify { yield &cold.value.account }
  }
  package var zone: ZoneRegion {
    get { cold.value.zone }
    _modify { yield &cold.value.zone }
  }
  package var fetch: FetchRegion {
    get { cold.value.fetch }
    _modify { yield &cold.value.fetch }
  }
  package var parked: ParkedRegion {
    get { cold.value.parked }
    _modify { yield &cold.value.parked }
  }
  package var sizing: SizingRegion {
    get { cold.value.sizing }
    _modify { yield &cold.value.sizing }
  }
  /// What one request may hold.
  package var limits: RequestLimits { contents.value.limits }
}
