/// What a state holds, by regions, and how events change it.
///
/// ``SyncState`` shows it; ``reduce(_:at:)`` is the only way it changes. What lies in one region is
/// that region's business, what happens between them is done here.
struct SyncRegions: Sendable {
  var eventCount: UInt64 = 0
  var epoch: UInt64 = 1
  var nonce: UInt64
  var nextOperation: UInt64 = 1
  var nextAttempt: UInt64 = 1
  var answered: UInt64 = 1
  var lastTurn: OperationMode?
  var gate = GateRegion()
  var flight: Flight?
  var modify = ModifyRegion()
  var notifications = PendingNotifications()
  var progress = SyncProgress()
  var cold: CopyOnWrite<ColdState>

  init(nonce: UInt64, cold: CopyOnWrite<ColdState>) {
    self.nonce = nonce
    self.cold = cold
  }
}

extension SyncRegions {
  var configuration: SyncConfiguration {
    get { cold.value.configuration }
    _modify { yield &cold.value.configuration }
  }
  var phase: SessionPhase {
    get { cold.value.phase }
    _modify { yield &cold.value.phase }
  }
  var account: AccountRegion {
    get { cold.value.account }
    _modify { yield &cold.value.account }
  }
  var zone: ZoneRegion {
    get { cold.value.zone }
    _modify { yield &cold.value.zone }
  }
  var fetch: FetchRegion {
    get { cold.value.fetch }
    _modify { yield &cold.value.fetch }
  }
  var parked: ParkedRegion {
    get { cold.value.parked }
    _modify { yield &cold.value.parked }
  }
  var sizing: SizingRegion {
    get { cold.value.sizing }
    _modify { yield &cold.value.sizing }
  }

  /// What one request may hold.
  var limits: RequestLimits { cold.value.configuration.limits ?? RequestLimits() }

  /// Whether anything is queued or on its way; see ``SyncState/hasWorkQueued``.
  var hasWorkQueued: Bool {
    flight != nil || !modify.queue.isEmpty || !modify.batch.isEmpty || cold.value.fetch.hasWork
      || !cold.value.parked.returning.isEmpty || cold.value.zone.isStarting
  }
}
