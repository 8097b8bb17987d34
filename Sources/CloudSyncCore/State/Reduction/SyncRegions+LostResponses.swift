/// Requests that were sent and not answered: the cloud may have carried them out or not.
///
/// They go before everything else of their kind, and nothing is merged with them, until they are
/// answered. Fetches take their turn between the attempts. What a page tells of such a record meanwhile
/// stands: a cloud that knows the write token answers a repeat with the records of that time, which
/// may be older than the page.
extension SyncRegions {
  /// Notes that a response was lost; a request that the cloud does not answer while it answers others is
  /// sent in ever smaller parts, until the change that cannot be answered is alone and is parked.
  mutating func loseResponse(over flight: Flight, error: SyncError, at now: Timestamp) {
    if modify.isProbing {
      // A probe has one attempt, and is parked again: repeated, it would hold up the others.
      modify.doubt(count: flight.count)
      return modify.thaw(count: flight.count)
    }
    freeze(count: flight.count)
    // Only another response shows that it is not the network that is away.
    let isProven = modify.lostAt.map { answered > $0 } ?? false
    if isProven { modify.losses += 1 }
    modify.lostAt = answered
    guard isProven, modify.repeated > 0, modify.losses >= configuration.lostResponseBudget else {
      return
    }
    modify.repeated = 0
    modify.writeToken = nil
    if flight.count > 1 {
      modify.part = flight.count / 2
      return
    }
    let entry = modify.batch.removeFirst()
    modify.thaw(count: 1)
    var lost = error
    lost.code = .timedOut
    lost.message = "the cloud never answered; the record may have been saved"
    park(entry, error: lost, at: now)
    afterParking(over: flight, at: now)
  }

  /// Keeps the first changes of the batch as they were sent.
  mutating func freeze(count: Int) {
    modify.freeze(count: count)
    guard configuration.refusedItems == .handBack else { return }
    for entry in modify.takeLostDeletions() { tellSources(of: entry, error: .outcomeUnknown) }
  }
}

extension PendingChange {
  /// How the change ended, if the response says that its record was saved.
  func ending(saved record: Record) -> ParkedChange {
    switch doubt {
    case .none, .unanswered: return .saved(record)
    case .gone: return .deleted(recordID)
    case .found(let page):
      // The page is older if it has the version that the change was made from.
      let isOlder = UTF8Bytes.equal(page.changeTag, edit?.changeTag)
      let isSame = UTF8Bytes.equal(page.changeTag, record.changeTag)
      return isOlder || isSame ? .saved(record) : .alreadyInCloud(page)
    }
  }

  /// How the change ended, if the cloud has it already or it is a deletion that is done.
  func ending(as plain: ParkedChange) -> ParkedChange {
    switch doubt {
    case .none, .unanswered: plain
    case .gone: .deleted(recordID)
    case .found(let page): .alreadyInCloud(page)
    }
  }
}
