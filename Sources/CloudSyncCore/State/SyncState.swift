/// The complete, replayable state of a session.
///
/// A state is a value: two sessions that reduce the same events from the same state are equal,
/// whatever the clock, the network, or the thread. Everything that varies arrives inside a
/// ``SyncEvent``, and ``reduce(_:at:)`` is the only way a state changes.
///
/// Queues and keyed collections are persistent values, so keeping every state that a session goes
/// through costs little, and a change costs the same at any length of the queues.
public struct SyncState: Sendable {
  /// How many events have been reduced.
  public package(set) var eventCount: UInt64 = 0
  /// Counts the lives of the session: `reset()`, a restore and an account decision begin a new one.
  public package(set) var epoch: UInt64 = 1
  /// The epoch's source of everything that must look random.
  package var nonce: UInt64
  /// The number of the next operation.
  package var nextOperation: UInt64 = 1
  /// The number of the next attempt.
  package var nextAttempt: UInt64 = 1
  /// The kind of the last modification or fetch that was sent, for taking turns.
  package var lastTurn: OperationMode?
  package var gate = GateRegion()
  package var flight: Flight?
  package var modify = ModifyRegion()
  package var notes = NoteRegion()
  /// How far the session has come.
  public package(set) var progress = SyncProgress()
  /// The regions that few events change, behind one reference.
  package var rare: CopyOnWrite<RareRegions>

  /// Creates the state of a new session.
  ///
  /// - Parameters:
  ///   - zoneID: The zone that the session keeps in step.
  ///   - configuration: Limits, budgets and policies.
  ///   - nonce: Where everything that must look random comes from; another one for each session.
  public init(zoneID: ZoneID, configuration: SyncConfiguration = .init(), nonce: UInt64 = 0) {
    self.nonce = nonce
    rare = CopyOnWrite(RareRegions(zoneID: zoneID, configuration: configuration))
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
    get { rare.value.configuration }
    _modify { yield &rare.value.configuration }
  }
  package var lifeRegion: Life {
    get { rare.value.life }
    _modify { yield &rare.value.life }
  }
  package var account: AccountRegion {
    get { rare.value.account }
    _modify { yield &rare.value.account }
  }
  package var zone: ZoneRegion {
    get { rare.value.zone }
    _modify { yield &rare.value.zone }
  }
  package var fetch: FetchRegion {
    get { rare.value.fetch }
    _modify { yield &rare.value.fetch }
  }
  package var parked: ParkedRegion {
    get { rare.value.parked }
    _modify { yield &rare.value.parked }
  }
  package var sizing: SizingRegion {
    get { rare.value.sizing }
    _modify { yield &rare.value.sizing }
  }
  /// What one request may hold.
  package var limits: RequestLimits { rare.value.configuration.limits ?? RequestLimits() }
}
