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
      modify.queue.append(operation)
      modify.queuedItems += operation.itemCount
      modify.queuedBytes += operation.byteCount
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
  /// What is in flight, or was sent without an answer, is waited for first; an edit that has been
  /// merged with another operation's goes on with that.
  mutating func reduceCancel(id: OperationID) -> Bool {
    if cancelFetch(id) { return true }
    if let index = modify.open.firstIndex(where: { $0.operation.id == id }) {
      modify.open[index].isCancelled = true
      applyCancellations()
      return true
    }
    guard let index = queueIndex(of: id) else { return false }
    let operation = modify.queue[index]
    guard operation.itemCount > 0 else { return false }
    let error = SyncError(.cancelled, "the operation was cancelled")
    let response = ModifyOperation.Response(
      failures: allItems(of: operation).map { ItemFailure($0, error) }
    )
    notifications.add(.modifyFailed(operation, error, response))
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
    var low = 0
    var high = modify.queue.count
    while low < high {
      let middle = (low + high) / 2
      if modify.queue[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < modify.queue.count, modify.queue[low].id == id else { return nil }
    return modify.queue[low].isWithdrawn ? nil : low
  }

  /// Takes the cancelled operations' entries out of the window, as soon as none of them is on its
  /// way.
  mutating func applyCancellations() {
    guard modify.open.contains(where: \.isCancelled) else { return }
    if modify.frozen > 0 { return }
    if let flight, flight.mode == .modify || flight.isLookup { return }
    for number in modify.open.filter(\.isCancelled).map(\.number) { withdraw(number) }
    modify.lookups = modify.batch.count { $0.needsLookup }
    announceCompleted()
  }

  private mutating func withdraw(_ number: UInt64) {
    guard let index = openIndex(of: number) else { return }
    let error = SyncError(.cancelled, "the operation was cancelled")
    var withdrawn: [RecordID] = []
    modify.batch.removeAll { entry in
      // What was merged with another edit goes on with it, also with one that had been parked.
      guard entry.source == number, entry.furtherSources.isEmpty, !entry.wasParked else {
        return false
      }
      withdrawn.append(entry.recordID)
      return true
    }
    if let first = modify.queue.first, first.id.number == number {
      // The part of it that no request has taken yet.
      let rest = items(of: first, from: modify.cursor)
      withdrawn += rest
      modify.queuedItems -= rest.count
      for item in modify.cursor..<first.itemCount {
        modify.queuedBytes -= first.byteCount(ofItem: item)
      }
      _ = modify.queue.popFirst()
      modify.cursor = 0
    }
    modify.open[index].isCancelled = false
    guard !withdrawn.isEmpty else { return }
    for recordID in withdrawn { modify.open[index].addFailure(ItemFailure(recordID, error)) }
    modify.open[index].left -= withdrawn.count
    modify.open[index].wasGivenUp = true
    progress.notDone += withdrawn.count
  }

  /// Where an operation is among the open ones.
  func openIndex(of number: UInt64) -> Int? {
    var low = 0
    var high = modify.open.count
    while low < high {
      let middle = (low + high) / 2
      if modify.open[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < modify.open.count && modify.open[low].number == number ? low : nil
  }

  func allItems(of operation: ModifyOperation) -> [RecordID] { items(of: operation, from: 0) }

  /// The records of an operation, saves before deletions, from an index on.
  func items(of operation: ModifyOperation, from start: Int) -> [RecordID] {
    let all = operation.records.lazy.map(\.recordID)
    let saves = operation.records.count
    if start >= saves { return Array(operation.recordIDsToDelete.dropFirst(start - saves)) }
    return Array(all.dropFirst(start)) + operation.recordIDsToDelete
  }

  /// The records of an open operation that are still in the window, on the way back to it, or not
  /// taken yet.
  func unsettledItems(of open: OpenOperation) -> [RecordID] {
    var found: [RecordID] = []
    for entry in modify.batch
    where entry.source == open.number || entry.furtherSources.contains(open.number) {
      found.append(entry.recordID)
    }
    for entry in parked.returning
    where entry.source == open.number || entry.furtherSources.contains(open.number) {
      found.append(entry.recordID)
    }
    if let first = modify.queue.first, first.id.number == open.number {
      found += items(of: first, from: modify.cursor)
    }
    return found
  }
}
