extension SyncRegions {
  /// Takes the response that everything is done.
  mutating func reduceSuccess(
    attempt: Attempt,
    result: SyncWork.Result,
    at now: Timestamp
  ) -> Bool {
    guard let flight, flight.attempt == attempt, flight.mode == result.mode else { return false }
    switch result {
    case .modify(let response): return settleWhole(flight: flight, response: response, at: now)
    case .fetch(let response):
      if flight.isLookup {
        // Reached only without an error middleware: the entries are looked up again.
        let verdicts = [ItemVerdict](repeating: .lookUp, count: flight.count)
        return reduceSettlement(
          attempt: attempt,
          settlement: Settlement(verdicts: verdicts),
          at: now
        )
      }
      _ = endRequest(attempt: attempt)
      heardFromCloud()
      zone.creations = 0
      receivePage(response, over: flight, at: now)
    case .createZone(let isDone):
      _ = endRequest(attempt: attempt)
      zoneAnswered(isDone: isDone, over: flight, at: now)
    case .createSubscription(let isDone):
      _ = endRequest(attempt: attempt)
      heardFromCloud()
      let error = SyncError(.serverRejectedRequest, "the handler refused to create a subscription")
      zone.forgetSubscriptionFailures()
      zone.subscription = isDone ? .ready : .givenUp(error)
    }
    return true
  }

  /// Settles a modification of which everything is done, its saves in the order of the request.
  private mutating func settleWhole(
    flight: Flight,
    response: ModifyOperation.Response,
    at now: Timestamp
  ) -> Bool {
    let count = flight.count
    guard modify.isFitting(response, to: count) else {
      // Reached only without an error middleware, which turns such a response into verdicts.
      let error = SyncError(.invalidResponse, "the response does not fit the request")
      let verdict = ItemVerdict.again(error, counted: true)
      let settlement = Settlement(verdicts: Array(repeating: verdict, count: count))
      return reduceSettlement(attempt: flight.attempt, settlement: settlement, at: now)
    }
    self.flight = nil
    modify.thaw(count: count)
    heardFromCloud()
    if zone.creations > 0 { zone.creations = 0 }
    let batch = modify.batch
    // An array that is let go costs less than one that is emptied.
    modify.batch = count == batch.count ? [] : Array(batch[count...])
    var next = 0
    for place in 0..<count {
      if batch[place].isSave {
        settleSaved(entry: batch[place], record: response.savedRecords[next])
        next += 1
      } else {
        settleDeleted(entry: batch[place])
      }
    }
    if modify.isProbing { modify.isProbing = false }
    if !sizing.isEmpty { sizing.succeeded(count: count, most: limits.items) }
    applyCancellations()
    announceCompleted()
    return true
  }

  /// Settles a change that was saved.
  mutating func settleSaved(entry: PendingChange, record: Record) {
    rememberLocalTag(of: entry, replacing: entry.edit?.changeTag, by: record.changeTag)
    settle(entry, as: entry.ending(saved: record))
  }

  /// Settles a change that the cloud has already.
  mutating func settleAlreadyThere(entry: PendingChange, record: Record) {
    // Another device's edit may lie between: later edits of this one must not pass over it.
    rememberLocalTag(of: entry, replacing: record.changeTag, by: record.changeTag)
    settle(entry, as: entry.ending(as: .alreadyInCloud(record)))
  }

  /// Settles a deletion that is done.
  mutating func settleDeleted(entry: PendingChange) {
    let recordID = entry.recordID
    modify.forgetTag(of: recordID, before: nextOperation)
    settle(entry, as: entry.ending(as: .deleted(recordID)))
  }

  private mutating func settle(
    _ entry: PendingChange,
    as ending: ParkedChange,
  ) {
    modify.forEachSource(of: entry) { open in
      open.left -= 1
      open.add(ending)
    }
    settleDone(entry: entry, change: ending)
  }

  /// What every record that is in the cloud brings about.
  private mutating func settleDone(entry: PendingChange, change: ParkedChange) {
    if cold.value.parked.inRow > 0 { parked.inRow = 0 }
    let recordID = entry.recordID
    if entry.wasParked { announce(change, reporter: entry.reporter) }
    if cold.value.parked.hasDependents {
      returnDependents(of: recordID, wasParked: entry.wasParked)
    }
    guard entry.wasParked else { return }
    if parked.quota != nil { quotaIsFree() }
  }

  /// Takes a response of which single items have verdicts, or which means something for the session.
  mutating func reduceSettlement(
    attempt: Attempt,
    settlement: Settlement,
    at now: Timestamp
  ) -> Bool {
    guard let flight = endRequest(attempt: attempt) else { return false }
    if flight.mode == .modify || flight.isLookup, !settlement.verdicts.isEmpty {
      applyVerdicts(verdicts: settlement.verdicts, of: flight, at: now)
    }
    if settlement.isTooLarge, flight.count > 1 {
      sizing.wasTooLarge(count: flight.count)
    } else if flight.count == 1, case .park(let error) = settlement.verdicts.first,
      error.code == .limitExceeded
    {
      sizing.foundCulprit(isTooLarge: true)
    }
    if let error = settlement.error { cold.value.lastError = error }
    if let wait = settlement.wait { closeGate(for: wait, at: now) }
    if let trouble = settlement.account { loseAccount(over: trouble, at: now) }
    if let loss = settlement.zone {
      loseZone(loss, error: settlement.error, over: flight, at: now)
    }
    if let error = settlement.halt { refuse(error: error, over: flight, at: now) }
    parkProbesAgain(after: nil, at: now)
    applyCancellations()
    announceCompleted()
    return true
  }

  /// Halts over a request; a zone that cannot be created is remembered as refused, a subscription
  /// as given up.
  mutating func refuse(error: SyncError, over flight: Flight, at now: Timestamp) {
    if flight.mode == .createZone { zone.zone = .refused(error) }
    if flight.mode == .createSubscription {
      zone.subscription = .givenUp(error)
      if ErrorTable.disposition(of: error.code, for: .createSubscription, in: .request)
        == .giveUpSubscription
      {
        return
      }
    }
    halt(error, over: flight, at: now)
  }

  /// Announces, in the order of submission, the operations of which every record is settled.
  mutating func announceCompleted() {
    while modify.open.isFirstSettled, let open = modify.open.popFirst() { announce(open) }
    while modify.open.isEmpty, modify.cursor == 0, let operation = modify.queue.first,
      operation.itemCount == 0
    {
      _ = modify.queue.popFirst()
      if !operation.isWithdrawn { announce(OpenOperation(operation)) }
    }
  }

  /// Announces the end of an operation of which everything is settled.
  mutating func announce(_ open: OpenOperation) {
    progress.done += open.doneCount
    if open.wasGivenUp {
      notifications.add(.modifyFailed(open.operation, .cancelled, open.response))
    } else {
      notifications.add(.modifyCompleted(open.operation, open.response))
    }
    if open.hasFollowUps {
      for change in open.followUps { notifications.add(.parked(change)) }
    }
  }
}
