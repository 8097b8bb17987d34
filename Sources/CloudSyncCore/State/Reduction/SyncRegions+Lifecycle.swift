extension SyncRegions {
  /// Starts the session, or starts it again: waits of its own are forgotten, refused zones and given
  /// up subscriptions are wished for anew, the account is asked about.
  mutating func reduceStart(at now: Timestamp) -> Bool {
    phase = .running
    cold.value.redeliversOnStart = false
    parked.inRow = 0
    _ = forgetOwnWaits()
    zone.forgetRefusals()
    account.ask(isUrgent: account.check == nil)
    return true
  }

  /// Stops the session; the work and the request in flight are kept.
  mutating func reduceHalt(error: SyncError, at now: Timestamp) -> Bool {
    if case .stopped = phase, error.code == .stopped { return false }
    halt(error, mode: nil, attempt: nil, operations: [], at: now)
    return true
  }

  mutating func halt(
    _ error: SyncError,
    mode: OperationMode?,
    attempt: Attempt?,
    operations: [OperationID],
    at now: Timestamp
  ) {
    phase = .stopped(
      HaltReason(error: error, mode: mode, attempt: attempt, operations: operations, time: now)
    )
    cold.value.lastError = error
  }

  /// Stops the session over a request.
  mutating func halt(_ error: SyncError, over flight: Flight, at now: Timestamp) {
    var operations: [OperationID] = []
    if flight.mode == .modify {
      operations = modify.open.prefix(10).map(\.operation.id)
    } else if flight.mode == .fetch, let run = fetch.run {
      operations = run.operations.prefix(10).map(\.id)
    }
    halt(error, mode: flight.mode, attempt: flight.attempt, operations: operations, at: now)
  }

  /// Gives everything up and begins a new epoch, as a session that was just made.
  mutating func reduceReset(nonce: UInt64, at now: Timestamp) -> Bool {
    giveUpEverything(error: SyncError(.reset, "the session was reset"))
    beginEpoch(nonce: nonce)
    let (provider, configuration, zoneID) = (account.hasProvider, configuration, zone.zoneID)
    var fresh = ColdState(zoneID: zoneID, configuration: configuration)
    fresh.account.hasProvider = provider
    fresh.account.status = provider ? .asking : .noProvider
    fresh.account.isCheckDue = provider
    fresh.fetch.nextPage = fetch.nextPage
    fresh.parked.next = parked.next
    // The server's wait outlives a reset: it is the cloud that asked for it.
    _ = forgetOwnWaits()
    cold.value = fresh
    progress = SyncProgress()
    lastTurn = nil
    return true
  }

  /// Ends every operation with an error and forgets what is parked.
  mutating func giveUpEverything(error: SyncError) {
    flight = nil
    giveUpModifications(error: error)
    giveUpFetches(error: error)
    fetch.awaited = nil
    fetch.lastToken = nil
  }

  /// Ends every fetch with an error.
  mutating func giveUpFetches(error: SyncError) {
    for operation in fetch.removeAll() { notifications.add(.fetchFailed(operation, error)) }
    progress.isMoreToFetch = false
  }

  /// Ends every modification with an error and forgets what is parked.
  mutating func giveUpModifications(error: SyncError) {
    // Whoever waits behind an error has an error of its own; the items tell which records.
    let unsettled = modify.unsettledItems(returning: Array(parked.returning))
    for open in modify.open {
      endGivenUp(open: open, items: unsettled[open.number] ?? [], error: error)
    }
    let begun = modify.open.lastNumber
    for operation in modify.queue where operation.id.number != begun && !operation.isWithdrawn {
      endGivenUp(open: OpenOperation(operation), items: operation.itemIDs(from: 0), error: error)
    }
    for parkedEntry in parked.inOrder {
      notifications.add(.parked(.dropped(parkedEntry.entry.recordID, error)))
    }
    for entry in modify.batch + Array(parked.returning) where entry.source == 0 {
      notifications.add(.parked(.dropped(entry.recordID, error)))
    }
    let kept = modify.tagsInvalidBefore
    modify = ModifyRegion()
    modify.tagsInvalidBefore = kept
    parked.removeAll()
    sizing = SizingRegion()
  }

  private mutating func endGivenUp(
    open: OpenOperation,
    items: [RecordID],
    error: SyncError
  ) {
    // Where all is settled, only its turn to be announced had not come. One without records says that everything before it
    // is done, and something before it is given up, or it would have been announced.
    guard open.left > 0 || open.operation.itemCount == 0 else { return announce(open) }
    var response = open.response
    response.failures += items.map { ItemFailure($0, error) }
    progress.done += response.doneCount
    progress.notDone += items.count
    notifications.add(.modifyFailed(open.operation, error, response))
    for change in open.followUps { notifications.add(.parked(change)) }
  }

  mutating func beginEpoch(nonce: UInt64) {
    epoch += 1
    self.nonce = nonce
    flight = nil
  }

  /// Continues a stored state in a new process: what was in flight counts as lost.
  mutating func reduceRestored(nonce: UInt64, configuration: SyncConfiguration) -> Bool {
    let lost = flight
    beginEpoch(nonce: nonce)
    self.configuration = configuration
    if let lost, lost.mode == .modify { freeze(count: lost.count) }
    applyCancellations()
    announceCompleted()
    phase = .created
    cold.value.redeliversOnStart = true
    account.restore()
    // A page whose delivery is known may have been lost before the app had stored it.
    if let awaited = fetch.awaited, awaited.nextOffer == nil,
      !notifications.announces(awaited.response.page)
    {
      offerPageAgain()
    }
    // An app that acknowledges pages no more has it with that.
    if !configuration.acknowledgesPages, let awaited = fetch.awaited {
      if awaited.nextOffer != nil { offerPageAgain() }
      fetch.awaited = nil
      complete(awaited.others, with: awaited.response)
    }
    return true
  }

  /// Tries now: every wait is forgotten, the server's too.
  mutating func reduceRetryNow(at now: Timestamp) -> Bool {
    gate = GateRegion()
    _ = forgetOwnWaits()
    if let quota = parked.quota, !quota.isPassed(at: now) {
      parked.quota = Deadline(from: now, nanoseconds: 0)
    }
    probeQuota(at: now)
    _ = reduceRetryParked(recordIDs: parked.timed)
    return true
  }

  /// Forgets the session's own waits; a wait that the server asked for stays.
  mutating func forgetOwnWaits() -> Bool {
    gate.forgetOwnWaits()
    if fetch.awaited?.nextOffer != nil { offerPageAgain() }
    if account.nextTry != nil {
      account.nextTry = nil
      account.ask(isUrgent: true)
    }
    return true
  }
}
