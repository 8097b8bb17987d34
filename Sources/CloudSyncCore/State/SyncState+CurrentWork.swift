extension SyncState {
  /// The work of the request in flight, as the handler was given it.
  public var currentWork: SyncWork? {
    guard let flight else { return nil }
    switch flight.mode {
    case .createZone: return .createZone(CreateZoneOperation(zoneID: zoneID))
    case .createSubscription:
      return .createSubscription(CreateSubscriptionOperation(zoneID: zoneID))
    case .modify: return .modify(requestedModification(count: flight.count))
    case .fetch where flight.isLookup:
      let wanted = modify.batch.lazy.filter(\.needsLookup).prefix(flight.count)
      return .fetch(FetchOperation(lookingUp: wanted.map(\.recordID)))
    case .fetch:
      guard let run = fetch.run, var operation = run.operations.first else { return nil }
      if run.isLookup { return .fetch(operation) }
      operation.changeToken = run.token
      operation.startingOver = run.token == nil
      return .fetch(operation)
    }
  }

  /// What the handler is told about the request in flight.
  public var currentContext: RequestContext? {
    guard let flight else { return nil }
    return RequestContext(
      attempt: flight.attempt,
      writeToken: modify.writeToken ?? WriteToken(nonce: nonce, number: flight.attempt.number),
      deadline: flight.deadline.until
    )
  }

  /// The entries of the request in flight, in its order.
  package var requestedEntries: [PendingChange] {
    guard let flight else { return [] }
    if flight.isLookup {
      return Array(modify.batch.lazy.filter(\.needsLookup).prefix(flight.count))
    }
    return flight.mode == .modify ? Array(modify.batch.prefix(flight.count)) : []
  }

  private func requestedModification(count: Int) -> ModifyOperation {
    var records: [Record] = []
    var deletions: [RecordID] = []
    let batch = modify.batch
    for place in 0..<min(count, batch.count) {
      switch batch[place].intent {
      // An array of one costs less to make than one that grows.
      case .save(let record) where records.isEmpty:
        records = [batch[place].sent(record)]
        if count > 1 { records.reserveCapacity(count) }
      case .save(let record): records.append(batch[place].sent(record))
      case .delete(let recordID): deletions.append(recordID)
      }
    }
    return ModifyOperation(records: records, recordIDsToDelete: deletions)
  }
}
