extension SyncState {
  /// How thoroughly a state is checked.
  package enum InvariantLevel: Sendable {
    /// In constant time.
    case cheap
    /// Everything, in time linear in the state.
    case all
  }

  /// The first thing about the state that contradicts itself, in words; nil if nothing does.
  package func brokenInvariant(_ level: InvariantLevel) -> String? {
    if let broken = brokenFlight ?? modify.brokenCounts { return broken }
    guard level == .all else { return nil }
    return brokenEntries ?? modify.brokenOpenOperations(returning: Array(parked.returning))
      ?? modify.brokenQueue(next: nextOperation)
  }

  private var brokenFlight: String? {
    guard let flight else { return nil }
    if flight.attempt.epoch != epoch { return "a request of another epoch is in flight" }
    if flight.attempt.number >= nextAttempt { return "an attempt of the future is in flight" }
    if flight.mode == .modify, let broken = modify.brokenRequest(of: flight.count) {
      return broken
    }
    if flight.isLookup, flight.count < 1 || flight.count > modify.lookups {
      return "more is looked up than is wanted"
    }
    if flight.mode == .fetch, !flight.isLookup, fetch.run == nil {
      return "a page is in flight for no run"
    }
    return nil
  }

  private var brokenEntries: String? {
    var seen: Set<RecordID> = []
    for entry in modify.batch + Array(parked.returning) {
      let recordID = entry.recordID
      if !seen.insert(recordID).inserted { return "\(recordID) is twice on its way" }
      if parked.entries[recordID] != nil { return "\(recordID) is on its way and on the entries" }
    }
    if let broken = modify.brokenBatch { return broken }
    for parked in parked.inOrder where parked.entry.source != 0 {
      return "\(parked.entry.recordID) is parked and still counted as open"
    }
    return parked.brokenInvariant
  }
}
