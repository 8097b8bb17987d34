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

  /// The zone that the session keeps in step.
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
      .map { UnsentEdit(recordID: $0.recordID, edit: $0.edit) }
  }

  // MARK: Unsent edits

  /// An edit of which nothing was published yet that says that the cloud has it.
  public struct UnsentEdit: Sendable, Hashable {
    /// The record.
    public let recordID: RecordID
    /// What is sent; nil for a deletion.
    public let edit: Record?
    /// Whether the edit is the whole record: the cloud was found to have it so.
    public let isWhole: Bool

    init(recordID: RecordID, edit: Record?, isWhole: Bool = false) {
      self.recordID = recordID
      self.edit = edit
      self.isWhole = isWhole
    }

    init(_ change: PendingChange) { self.init(recordID: change.recordID, edit: change.edit) }

    /// Nil if the cloud does not have it.
    init?(_ ending: ParkedChange) {
      switch ending {
      case .saved(let record): self.init(recordID: record.recordID, edit: record)
      case .alreadyInCloud(let record):
        self.init(recordID: record.recordID, edit: record, isWhole: true)
      case .deleted(let recordID): self.init(recordID: recordID, edit: nil)
      case .refused, .dropped: return nil
      }
    }

    /// The record as the user sees it.
    ///
    /// - Parameter record: The record as the cloud has it, with the edits before this one; nil if there is none.
    /// - Returns: The record with the edit; nil if the edit deletes it.
    public func applied(to record: Record?) -> Record? {
      isWhole ? edit : edit?.merged(into: record)
    }
  }

  /// What a storage layer that keeps what the cloud has lacks of the user's edits, in the order in which it is to be
  /// applied to what is stored.
  ///
  /// These are the edits that wait, are on their way or are parked, as they will be sent; and those that are in the cloud,
  /// as pages have told of them since, while their operation waits for others of its records. What was withdrawn,
  /// dropped or refused is not among them. An edit leaves them when its ``CloudChange`` is on its way.
  ///
  /// - Complexity: O(*n* log *n*) in the number of records of operations that have not completed.
  public var unsentEdits: [UnsentEdit] {
    var edits: [UnsentEdit] = []
    for open in modify.open {
      edits += open.settled.compactMap { UnsentEdit($0) }
    }
    edits += parked.inOrder.map { UnsentEdit($0.entry) }
    edits += modify.batch.map { UnsentEdit($0) } + parked.returning.map { UnsentEdit($0) }
    var taken = modify.cursor
    for operation in modify.queue {
      let records = operation.records
      edits += records.dropFirst(taken).map { UnsentEdit(recordID: $0.recordID, edit: $0) }
      edits += operation.recordIDsToDelete.dropFirst(max(0, taken - records.count))
        .map { UnsentEdit(recordID: $0, edit: nil) }
      taken = 0
    }
    return edits
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
