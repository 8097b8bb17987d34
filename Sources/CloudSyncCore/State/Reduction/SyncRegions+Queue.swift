extension SyncRegions {
  /// Whether counting can go on after a number: one that no session gave may be in a damaged log.
  private func isCountable(id: OperationID) -> Bool { id.number < 1 << 62 }

  /// Queues work.
  mutating func reduceDoWork(work: SyncWork) -> Bool {
    switch work {
    case .modify(let operation):
      if operation.id == .unassigned { return refuse(unsubmitted: operation) }
      // Numbers ascend in the queue.
      guard isCountable(id: operation.id), operation.id.number >= nextOperation else {
        return false
      }
      beginProgressIfIdle()
      nextOperation = operation.id.number + 1
      modify.enqueue(operation)
      progress.submitted += operation.itemCount
      if operation.itemCount == 0 { announceCompleted() }
      return true
    case .fetch(let operation):
      guard isCountable(id: operation.id) else { return false }
      nextOperation = max(nextOperation, operation.id.number + 1)
      if operation.isLookup, operation.recordIDs.isEmpty {
        // Nobody has to be asked: as of an operation without records, its end can be told at once.
        notifications.add(.fetchPage(operation, FetchOperation.Response(changeToken: nil)))
        return true
      }
      beginProgressIfIdle()
      fetch.enqueue(operation)
      return true
    case .createZone: return wish { $0.wishForZone() }
    case .createSubscription: return wish { $0.wishForSubscription() }
    }
  }

  /// Queues what is to be in the cloud once, unless it is queued already.
  private mutating func wish(_ body: (inout ZoneRegion) -> Bool) -> Bool {
    let isBeginning = !hasWorkQueued
    guard body(&zone) else { return false }
    if isBeginning { progress = SyncProgress() }
    return true
  }

  /// Ends an operation that was not submitted as it has to be: it is told, and nothing is queued.
  private mutating func refuse(unsubmitted operation: ModifyOperation) -> Bool {
    var reason = "the operation has no name; put ModifyOperation.submitted(as:in:) in its place"
    do throws(RecordRuleViolation) { _ = try Submission(operation, zoneID: zone.zoneID) } catch {
      reason = "\(error)"
    }
    let error = SyncError(.invalidArguments, reason)
    let failures = operation.itemIDs(from: 0).map { ItemFailure($0, error) }
    notifications.add(
      .modifyFailed(operation, error, ModifyOperation.Response(failures: failures))
    )
    return true
  }

  /// Ends an operation that a middleware has dropped: it was called, so it is told like any other that fails.
  mutating func reduceDropped(work: SyncWork) -> Bool {
    guard let id = work.operationID, isCountable(id: id) else { return false }
    nextOperation = max(nextOperation, id.number + 1)
    switch work {
    case .modify(let operation):
      let failures = operation.itemIDs(from: 0).map { ItemFailure($0, .droppedByMiddleware) }
      let response = ModifyOperation.Response(failures: failures)
      notifications.add(.modifyFailed(operation, .droppedByMiddleware, response))
    case .fetch(let operation):
      notifications.add(.fetchFailed(operation, .droppedByMiddleware))
    case .createZone, .createSubscription: return false
    }
    return true
  }

  /// Counts anew, if this is the first work after the session had none.
  private mutating func beginProgressIfIdle() {
    if !hasWorkQueued { progress = SyncProgress() }
  }

  /// Gives up an operation: whatever of it has not been sent.
  ///
  /// What is in flight is waited for first; what was sent and not answered is given up at once, and
  /// the operation says that it may be done. An edit that has been merged with another operation's
  /// goes on with that, and the operation says the same of it.
  mutating func reduceCancel(id: OperationID) -> Bool {
    if cancelFetch(id) { return true }
    if let open = modify.open[id.number], open.operation.id == id {
      if !modify.cancelling.contains(id.number) { modify.cancelling.append(id.number) }
      applyCancellations()
      return true
    }
    guard let index = modify.queueIndex(of: id) else { return false }
    let operation = modify.queue[index]
    guard operation.itemCount > 0 else { return false }
    let response = ModifyOperation.Response(
      failures: operation.itemIDs(from: 0).map { ItemFailure($0, .cancelled) }
    )
    notifications.add(.modifyFailed(operation, .cancelled, response))
    progress.notDone += operation.itemCount
    modify.withdraw(at: index)
    announceCompleted()
    return true
  }

  /// Takes the cancelled operations' entries out of the batch; those of which an edit is on its way for the first time, or
  /// is looked up, as soon as that is answered.
  mutating func applyCancellations() {
    guard !modify.cancelling.isEmpty else { return }
    for number in modify.takeCancellable(during: flight) { withdraw(operation: number) }
    modify.lookups = modify.batch.count { $0.needsLookup }
    announceCompleted()
  }

  private mutating func withdraw(operation number: UInt64) {
    guard modify.open[number] != nil else { return }
    let sent = flight?.mode == .modify ? flight?.count ?? 0 : 0
    var (withdrawn, endsRequest) = modify.withdrawFromBatch(operation: number, sent: sent)
    if endsRequest, flight?.mode == .modify { flight = nil }
    withdrawn += modify.withdrawRest(of: number).map { ItemFailure($0, .cancelled) }
    guard !withdrawn.isEmpty else { return }
    progress.notDone += withdrawn.count
    let hasEnded = modify.open.change(operation: number) { open in
      for failure in withdrawn { open.addFailure(failure) }
      open.left -= withdrawn.count
      open.wasGivenUp = true
      return open.left == 0
    }
    // Whether or not its turn has come.
    guard hasEnded == true, let open = modify.open.remove(operation: number) else { return }
    modify.open.overtake(by: open)
    announce(open)
  }
}
