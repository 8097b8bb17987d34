/// What the verdicts of ``ItemResultClassifier`` do to the entries of a request.
extension SyncRegions {
  /// Replaces the entries of a request by what the verdicts leave of them: in their places, or behind
  /// those that have not been answered.
  mutating func applyVerdicts(
    verdicts: [ItemVerdict],
    of flight: Flight,
    at now: Timestamp
  ) {
    if flight.mode == .modify { modify.thaw(count: flight.count) }
    // Verdicts may park and return others, and must not find the batch half done.
    let unanswered = modify.frozen
    let batch = modify.batch
    modify.batch = []
    modify.batch.reserveCapacity(batch.count)
    if unanswered > 0 { modify.batch += batch[flight.count..<(flight.count + unanswered)] }
    if verdicts.contains(where: \.isDone) { answered += 1 }
    var next = 0
    var didProgress = false
    for (place, entry) in batch.enumerated() {
      let isAnswered =
        flight.isLookup ? entry.needsLookup && next < flight.count : place < flight.count
      guard isAnswered else {
        if place >= flight.count + unanswered || flight.isLookup { modify.batch.append(entry) }
        continue
      }
      let verdict = next < verdicts.count ? verdicts[next] : .stay
      next += 1
      if let kept = apply(verdict: verdict, to: entry, at: now) {
        modify.batch.append(kept)
      } else if verdict.endsWaits {
        didProgress = true
      }
    }
    modify.lookups = modify.batch.count { $0.needsLookup }
    if didProgress { resetRetryCounters() }
    afterParking(over: flight, at: now)
  }

  /// Applies one verdict; returns what stays in the batch.
  private mutating func apply(
    verdict: ItemVerdict,
    to entry: PendingChange,
    at now: Timestamp
  ) -> PendingChange? {
    var entry = entry
    switch verdict {
    case .saved(let record):
      settleSaved(entry: entry, record: record)
      return nil
    case .deleted:
      settleDeleted(entry: entry)
      return nil
    case .alreadyThere(let record):
      settleAlreadyThere(entry: entry, record: record)
      return nil
    case .resolved(let record, let server):
      return conflicted(entry: entry, record: record, over: server, at: now)
    case .recreate(let record):
      return conflicted(entry: entry, record: record, over: nil, at: now)
    case .lookUp:
      entry.endProbing()
      entry.conflicts += 1
      entry.needsLookup = true
      if entry.conflicts <= configuration.conflictBudget { return entry }
      park(entry, error: Self.conflictBudgetSpent, at: now)
      return nil
    case .stay: return entry
    case .again(let error, let isCounted):
      entry.noteFailure(error, mayMakeAnew: configuration.missingRecordPolicy == .recreate)
      if isCounted { entry.failures += 1 }
      if error.mayPass {
        // A probe has one attempt: it must not hold up the others.
        if entry.probes > 0 {
          park(entry, error: error, at: now)
          return nil
        }
        entry.refusedAt = answered
        modify.othersFirst = true
      }
      if entry.failures <= configuration.failureBudget { return entry }
      park(entry, error: error, at: now)
      return nil
    case .park(let error):
      // What was saved under that tag is gone: an edit without one is to make the record anew.
      if error.code == .unknownItem { modify.forgetTag(of: entry.recordID, before: nextOperation) }
      park(entry, error: error, at: now)
      return nil
    case .parkForQuota(let error):
      park(entry, error: error, isQuota: true, at: now)
      return nil
    }
  }

  private static var conflictBudgetSpent: SyncError {
    SyncError(.conflictBudgetSpent, "the record conflicted again and again")
  }

  private mutating func conflicted(
    entry: PendingChange,
    record: Record,
    over server: Record?,
    at now: Timestamp
  ) -> PendingChange? {
    var entry = entry
    entry.resolve(to: record, over: server)
    if entry.conflicts <= configuration.conflictBudget { return entry }
    park(entry, error: Self.conflictBudgetSpent, at: now)
    return nil
  }
}
