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
  private var contents: CopyOnWrite<Contents>

  private struct Contents: Sendable {
    var eventCount: UInt64 = 0
    var epoch: UInt64 = 1
    var nonce: UInt64
    var nextOperation: UInt64 = 1
    var nextAttempt: UInt64 = 1
    var lastTurn: OperationMode?
    var gate = GateRegion()
    var flight: Flight?
    var modify = ModifyRegion()
    var notes = NoteRegion()
    var progress = SyncProgress()
    var rare: CopyOnWrite<RareRegions>
  }

  /// Creates the state of a new session.
  ///
  /// - Parameters:
  ///   - zoneID: The zone that the session keeps in step.
  ///   - configuration: Limits, budgets and policies.
  ///   - nonce: Where everything that must look random comes from; another one for each session.
  public init(zoneID: ZoneID, configuration: SyncConfiguration = .init(), nonce: UInt64 = 0) {
    let rare = CopyOnWrite(RareRegions(zoneID: zoneID, configuration: configuration))
    contents = CopyOnWrite(Contents(nonce: nonce, rare: rare))
  }

  /// How many events have been reduced.
  public package(set) var eventCount: UInt64 {
    _read { yield contents.value.eventCount }
    _modify { yield &contents.value.eventCount }
  }
  /// Counts the lives of the session: `reset()`, a restore and an account decision begin a new one.
  public package(set) var epoch: UInt64 {
    _read { yield contents.value.epoch }
    _modify { yield &contents.value.epoch }
  }
  /// The epoch's source of everything that must look random.
  package var nonce: UInt64 {
    _read { yield contents.value.nonce }
    _modify { yield &contents.value.nonce }
  }
  /// The number of the next operation.
  package var nextOperation: UInt64 {
    _read { yield contents.value.nextOperation }
    _modify { yield &contents.value.nextOperation }
  }
  /// The number of the next attempt.
  package var nextAttempt: UInt64 {
    _read { yield contents.value.nextAttempt }
    _modify { yield &contents.value.nextAttempt }
  }
  /// The kind of the last modification or fetch that was sent, for taking turns.
  package var lastTurn: OperationMode? {
    _read { yield contents.value.lastTurn }
    _modify { yield &contents.value.lastTurn }
  }
  /// The gate before every request.
  package var gate: GateRegion {
    _read { yield contents.value.gate }
    _modify { yield &contents.value.gate }
  }
  /// The request whose answer is waited for.
  package var flight: Flight? {
    _read { yield contents.value.flight }
    _modify { yield &contents.value.flight }
  }
  /// The modifications.
  package var modify: ModifyRegion {
    _read { yield contents.value.modify }
    _modify { yield &contents.value.modify }
  }
  /// What is to be announced.
  package var notes: NoteRegion {
    _read { yield contents.value.notes }
    _modify { yield &contents.value.notes }
  }
  /// How far the session has come.
  public package(set) var progress: SyncProgress {
    _read { yield contents.value.progress }
    _modify { yield &contents.value.progress }
  }
  /// The regions that few events change.
  package var rare: CopyOnWrite<RareRegions> {
    _read { yield contents.value.rare }
    _modify { yield &contents.value.rare }
  }
}

/// The regions of a state that few events change.
package struct RareRegions: Sendable {
  package var configuration: SyncConfiguration
  package var life = Life.created
  /// Whether announcements wait for `start()` because the session was restored.
  package var owesAnnouncements = false
  package var account = AccountRegion()
  package var zone: ZoneRegion
  package var fetch = FetchRegion()
  package var parked = ParkedRegion()
  package var sizing = SizingRegion()
  /// The last error that made the session wait.
  package var lastError: SyncError?

  package init(zoneID: ZoneID, configuration: SyncConfiguration) {
    self.configuration = configuration
    zone = ZoneRegion(zoneID: zoneID)
  }
}

extension SyncState {
  package var configuration: SyncConfiguration {
    _read { yield rare.value.configuration }
    _modify { yield &rare.value.configuration }
  }
  package var lifeRegion: Life {
    _read { yield rare.value.life }
    _modify { yield &rare.value.life }
  }
  package var account: AccountRegion {
    _read { yield rare.value.account }
    _modify { yield &rare.value.account }
  }
  package var zone: ZoneRegion {
    _read { yield rare.value.zone }
    _modify { yield &rare.value.zone }
  }
  package var fetch: FetchRegion {
    _read { yield rare.value.fetch }
    _modify { yield &rare.value.fetch }
  }
  package var parked: ParkedRegion {
    _read { yield rare.value.parked }
    _modify { yield &rare.value.parked }
  }
  package var sizing: SizingRegion {
    _read { yield rare.value.sizing }
    _modify { yield &rare.value.sizing }
  }
  /// What one request may hold.
  package var limits: RequestLimits { rare.value.configuration.limits ?? RequestLimits() }
}
