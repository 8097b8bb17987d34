extension SyncState {
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
      beginProgressIfIdle()
      nextOperation = max(nextOperation, operation.id.number + 1)
      return queueFetch(operation)
    case .createZone:
      switch zone.zone {
      case .unknown, .refused: zone.zone = .creating(nil)
      case .creating, .ready, .lost: return false
      }
      return true
    case .createSubscription:
      switch zone.subscription {
      case .unknown, .givenUp: zone.subscription = .creating
      case .creating, .ready: return false
      }
      return true
    }
  }

  /// Ends an operation that was not submitted as it has to be: it is told, and nothing is queued.
  private mutating func refuse(unsubmitted operation: ModifyOperation) -> Bool {
    var reason = "the operation has no name; put ModifyOperation.submitted(as:in:) in its place"
    do throws(RecordRuleViolation) { _ = try Submission(operation, zoneID: zoneID) } catch {
      reason = "\(error)"
    }
    let error = SyncError(.invalidArguments, reason)
    let failures = allItems(of: operation).map { ItemFailure($0, error) }
    notifications.add(
      .modifyFailed(operation, error, ModifyOperation.Response(failures: failures))
    )
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
  /// goes on with that.
  mutating func reduceCancel(id: OperationID) -> Bool {
    if cancelFetch(id) { return true }
    if let open = modify.open[id.number], open.operation.id == id {
      if !modify.cancelling.contains(id.number) { modify.cancelling.append(id.number) }
      applyCancellations()
      return true
    }
    guard let index = queueIndex(of: id) else { return false }
    let operation = modify.queue[index]
    guard operation.itemCount > 0 else { return false }
    let response = ModifyOperation.Response(
      failures: allItems(of: operation).map { ItemFailure($0, Self.cancelled) }
    )
    notifications.add(.modifyFailed(operation, Self.cancelled, response))
    progress.notDone += operation.itemCount
    modify.queuedItems -= operation.itemCount
    modify.queuedBytes -= operation.byteCount
    // A queue has no gaps: what was given up leaves an empty operation that announces nothing.
    modify.queue.replace(at: index, with: operation.withdrawn)
    announceCompleted()
    return true
  }

  /// Where an operation of this epoch is in the queue: numbers ascend in it.
  private func queueIndex(of id: OperationID) -> Int? {
    let place = (0..<modify.queue.count).firstPlace { modify.queue[$0].id >= id }
    guard place < modify.queue.count, modify.queue[place].id == id else { return nil }
    return modify.queue[place].isWithdrawn ? nil : place
  }

  /// Takes the cancelled operations' entries out of the batch, as soon as none of them is on its way
  /// for the first time.
  mutating func applyCancellations() {
    guard !modify.cancelling.isEmpty else { return }
    if let flight, flight.isLookup || (flight.mode == .modify && modify.frozen == 0) { return }
    let numbers = modify.cancelling
    modify.cancelling = []
    for number in numbers { withdraw(number) }
    modify.lookups = modify.batch.count { $0.needsLookup }
    announceCompleted()
  }

  private mutating func withdraw(_ number: UInt64) {
    guard modify.open[number] != nil else { return }
    var withdrawn = withdrawFromBatch(number)
    if let first = modify.queue.first, first.id.number == number {
      // The part of it that no request has taken yet.
      let rest = items(of: first, from: modify.cursor)
      withdrawn += rest.map { ItemFailure($0, Self.cancelled) }
      modify.queuedItems -= rest.count
      for item in modify.cursor..<first.itemCount {
        modify.queuedBytes -= first.byteCount(ofItem: item)
      }
      _ = modify.queue.popFirst()
      modify.cursor = 0
    }
    guard !withdrawn.isEmpty else { return }
    progress.notDone += withdrawn.count
    let hasEnded = modify.open.change(number) { open in
      for failure in withdrawn { open.addFailure(failure) }
      open.left -= withdrawn.count
      open.wasGivenUp = true
      return open.left == 0
    }
    // Whether or not its turn has come.
    if hasEnded == true, let open = modify.open.remove(number) { announce(open) }
  }

  static var cancelled: SyncError {
    SyncError(.cancelled, "the operation was cancelled")
  }

  /// Takes an operation's own entries out of the batch; a request that is sent again is given up if it
  /// has any of them, and the rest of it is sent under a new write token.
  private mutating func withdrawFromBatch(_ number: UInt64) -> [ItemFailure] {
    var withdrawn: [ItemFailure] = []
    var kept: [PendingChange] = []
    var (frozen, isChanged) = (0, false)
    let sent = max(modify.repeated, flight?.mode == .modify ? flight?.count ?? 0 : 0)
    for (place, entry) in modify.batch.enumerated() {
      // What was merged with another edit goes on with it, also with one that had been parked.
      guard entry.source == number, entry.furtherSources.isEmpty, !entry.wasParked else {
        kept.append(entry)
        if place < modify.frozen { frozen += 1 }
        continue
      }
      let error = entry.isInDoubt ? Self.outcomeUnknown : Self.cancelled
      withdrawn.append(ItemFailure(entry.recordID, error))
      if place < sent { isChanged = true }
    }
    guard !withdrawn.isEmpty else { return [] }
    modify.batch = kept
    let gone = modify.frozen - frozen
    if isChanged {
      if flight?.mode == .modify { flight = nil }
      thaw(count: gone)
    } else {
      modify.frozen = frozen
    }
    return withdrawn
  }

  func allItems(of operation: ModifyOperation) -> [RecordID] { items(of: operation, from: 0) }

  /// The records of an operation, saves before deletions, from an index on.
  func items(of operation: ModifyOperation, from start: Int) -> [RecordID] {
    let all = operation.records.lazy.map(\.recordID)
    let saves = operation.records.count
    if start >= saves { return Array(operation.recordIDsToDelete.dropFirst(start - saves)) }
    return Array(all.dropFirst(start)) + operation.recordIDsToDelete
  }

  /// The records of the open operations that are still in the batch, on the way back to it, or not
  /// taken yet, by the operation's number.
  var unsettledItems: [UInt64: [RecordID]] {
    // A dictionary is asked for single operations only; its order never shows.
    var found: [UInt64: [RecordID]] = [:]
    for entry in modify.batch + Array(parked.returning) where entry.source != 0 {
      found[entry.source, default: []].append(entry.recordID)
      for number in entry.furtherSources where number != entry.source {
        found[number, default: []].append(entry.recordID)
      }
    }
    if let first = modify.queue.first, modify.open.last?.number == first.id.number {
      found[first.id.number, default: []] += items(of: first, from: modify.cursor)
    }
    return found
  }
}
