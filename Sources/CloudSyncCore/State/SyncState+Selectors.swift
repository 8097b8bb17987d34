extension SyncState {
  // MARK: Phase

  /// Whether the session works: it was started, is not halted, and can use the account.
  public var isRunning: Bool {
    if case .running = phase { account.isGood } else { false }
  }

  /// Whether the session has been started and knows the account and its zone.
  public var hasStarted: Bool { isRunning && !isStarting }

  /// Whether the session was started and still waits for the account, the zone or the subscription.
  public var isStarting: Bool {
    guard case .running = phase else { return false }
    if case .asking = account.status { return true }
    return zone.isStarting
  }

  /// Whether the session was stopped, by the app or by an error.
  public var isHalted: Bool { if case .stopped = phase { true } else { false } }

  /// Why the session was stopped.
  public var haltReason: HaltReason? {
    if case .stopped(let reason) = phase { reason } else { nil }
  }

  /// When the session was stopped, if it is.
  public var lastHaltedDate: Timestamp? { haltReason?.time }

  // MARK: Account and zone

  /// What is known of the account.
  public var accountState: AccountState { account.status }

  /// Whether the account can be used; nil before it is known.
  public var hasGoodAccountStatus: Bool? {
    if case .asking = account.status { nil } else { account.isGood }
  }

  /// The zone that the session synchronizes.
  public var zoneID: ZoneID { zone.zoneID }

  /// What is known of the zone.
  public var zoneState: ZoneState { zone.zone }

  /// What is known of the subscription.
  public var subscriptionState: SubscriptionState { zone.subscription }

  /// Whether the zone exists; nil before it is known.
  public var hasCreatedZone: Bool? {
    switch zone.zone {
    case .unknown, .creating(nil): nil
    case .ready: true
    case .creating, .lost, .refused: false
    }
  }

  /// Whether the subscription exists; nil before it is known.
  public var hasCreatedSubscription: Bool? {
    switch zone.subscription {
    case .unknown, .creating: nil
    case .ready: true
    case .givenUp: false
    }
  }

  // MARK: Work

  /// The kind of the request in flight.
  public var operationMode: OperationMode? { flight?.mode }

  /// Whether changes are being fetched.
  public var isFetching: Bool { flight?.mode == .fetch }

  /// Whether records are being saved or deleted.
  public var isModifying: Bool { flight?.mode == .modify }

  /// Whether anything is queued or on its way.
  public var hasWorkQueued: Bool {
    // Read piece by piece, because it is asked before every input: a call would copy all regions.
    flight != nil || !modify.queue.isEmpty || !modify.batch.isEmpty || cold.value.fetch.hasWork
      || !parked.returning.isEmpty || zone.isStarting
  }

  /// Whether nothing is queued, on its way or to be announced.
  package var isIdle: Bool { !hasWorkQueued && notifications.queue.isEmpty }

  /// The creation of the zone, if it is wished for.
  public var createZoneQueue: [CreateZoneOperation] {
    if case .creating = zone.zone { [CreateZoneOperation(zoneID: zoneID)] } else { [] }
  }

  /// The creation of the subscription, if it is wished for.
  public var createSubscriptionQueue: [CreateSubscriptionOperation] {
    if case .creating = zone.subscription {
      [CreateSubscriptionOperation(zoneID: zoneID)]
    } else {
      []
    }
  }

  /// The modifications that have not completed, in the order of their submission.
  ///
  /// - Complexity: O(*n*) in their number.
  public var modifyQueue: [ModifyOperation] {
    let begun = modify.open.lastNumber
    return modify.open.map(\.operation)
      + modify.queue.filter { !$0.isWithdrawn && $0.id.number != begun }
  }

  /// The fetches that have not completed, in the order of their submission.
  public var fetchQueue: [FetchOperation] { fetch.unfinished }

  /// The name that the state expects the next operation to have; later ones may have higher numbers.
  public var nextOperationID: OperationID { OperationID(epoch: epoch, number: nextOperation) }

  /// Whether a storage layer that feeds the session should submit more: less than two requests'
  /// worth of items and of bytes is waiting.
  public var wantsMoreWork: Bool {
    let limits = limits
    return modify.queuedItems / 2 < limits.items && modify.queuedBytes / 2 < limits.bytes
  }

  // MARK: Parked records

  /// A record that was set aside.
  public struct ParkedRecord: Sendable, Hashable {
    /// The record.
    public let recordID: RecordID
    /// The edit that waits; nil for a deletion.
    public let edit: Record?
    /// Why it was set aside.
    public let error: SyncError
  }

  /// The parked records, in the order in which they were parked.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  public var parkedRecords: [ParkedRecord] {
    parked.inOrder.map {
      ParkedRecord(recordID: $0.entry.recordID, edit: $0.entry.edit, error: $0.error)
    }
  }

  /// Whether a record is parked.
  package func isParked(recordID: RecordID) -> Bool { parked.entries[recordID] != nil }

  /// The records that were parked and are sent again, until they are saved or parked once more.
  ///
  /// The operation that they came with has completed without them, so ``modifyQueue`` does not have
  /// them; a later edit of such a record is merged into it and listed there as well.
  ///
  /// - Complexity: O(*n*) in the number of records in a request and of those that return.
  public var returningRecords: [UnsentEdit] {
    (modify.batch.filter(\.wasParked) + Array(parked.returning))
      .map { UnsentEdit($0) }
  }

  // MARK: Waits

  /// How often in a row the session has had to wait, for the cause that made it wait most often; at
  /// most 255.
  public var retryCount: Int { gate.retries.most }

  /// The error that made the session wait last, until something goes well.
  public var lastRetryError: SyncError? { cold.value.lastError }

  /// How much the next request may take: the limits, or the smaller size that was learnt.
  public var requestLimits: RequestLimits { sizing.limits(within: limits) }
}
