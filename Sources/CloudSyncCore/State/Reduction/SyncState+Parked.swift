extension SyncState {
  /// Sets an entry aside with its error, and tells its operations that it is not saved.
  mutating func park(_ entry: PendingChange, error: SyncError, isQuota: Bool) {
    let recordID = entry.recordID
    var hint = 0
    forEachSource(of: entry, hint: &hint) { open in
      open.left -= 1
      open.outcome.failures.append(ItemFailure(recordID, error))
    }
    progress.notDone += entry.source == 0 ? 0 : 1 + entry.furtherSources.count
    if entry.wasParked, entry.source == 0 { announce(.refused(recordID, error)) }
    var kept = entry
    kept.source = 0
    kept.furtherSources = []
    kept.wasParked = true
    kept.refresh()
    parked.entries[recordID] = ParkedEntry(
      entry: kept,
      error: error,
      number: parked.next,
      isQuota: isQuota
    )
    parked.next += 1
    // A full storage, and an app that merges by itself, say nothing against the records.
    if !isQuota, error.code != .awaitsAppEdit { parked.inRow += 1 }
  }

  /// Announces what became of a parked record: never before the operation that says it is parked.
  mutating func announce(_ change: ParkedChange) {
    let recordID = change.recordID
    let owner = modify.open.lastIndex { open in
      open.outcome.failures.contains { $0.recordID == recordID }
    }
    if let owner {
      modify.open[owner].followUps.append(change)
    } else {
      notifications.add(.parked(change))
    }
  }

  mutating func unpark(_ recordID: RecordID) { parked.entries[recordID] = nil }

  /// What follows when records were parked: probes of the storage, or a halt after too many.
  mutating func afterParking(over flight: Flight, at now: Timestamp) {
    guard !parked.entries.isEmpty else { return }
    if let probe = parked.probe, parked.entries[probe] != nil {
      // The probe was refused, for want of storage or for a reason of its own.
      if hasParkedForQuota { startQuotaWait(at: now) } else { endQuota() }
    } else if parked.quota == nil, hasParkedForQuota {
      startQuotaWait(at: now)
    }
    if parked.inRow >= configuration.parkingBudget {
      parked.inRow = 0
      let error = SyncError(
        .tooManyParked,
        "\(configuration.parkingBudget) records in a row were refused; "
          + "the last error is \(parked.inOrder.last?.error.code.description ?? "unknown")"
      )
      halt(error, over: flight, at: now)
    }
  }

  private var hasParkedForQuota: Bool {
    var found = false
    parked.entries.visitUnordered { _, entry in if entry.isQuota { found = true } }
    return found
  }

  private mutating func startQuotaWait(at now: Timestamp) {
    let wait = Wait(.quota)
    let length = waitLength(for: wait)
    gate.retries[.quota] += 1
    parked.quota = Deadline(from: now, nanoseconds: length)
    parked.probe = nil
  }

  private mutating func endQuota() {
    parked.quota = nil
    parked.probe = nil
    gate.retries[.quota] = 0
  }

  /// Sends one parked save as a probe when its time has come.
  @discardableResult
  mutating func probeQuota(at now: Timestamp) -> Bool {
    guard let quota = parked.quota, quota.isPassed(at: now), parked.probe == nil else {
      return false
    }
    guard let probe = parked.inOrder.first(where: \.isQuota) else {
      parked.quota = nil
      return true
    }
    parked.probe = probe.entry.recordID
    unpark(probe.entry.recordID)
    parked.returning.append(probe.entry)
    return true
  }

  /// Storage is free again: everything that waited for it is sent.
  mutating func quotaIsFree() {
    endQuota()
    returnToBatch(entries: parked.inOrder.filter(\.isQuota))
  }

  /// Tries records again that were refused because of another one, which may be saved now.
  mutating func returnDependents() {
    guard !parked.entries.isEmpty else { return }
    returnToBatch(entries: parked.inOrder.filter { $0.error.code == .referenceViolation })
  }

  private mutating func returnToBatch(entries: [ParkedEntry]) {
    for parkedEntry in entries {
      unpark(parkedEntry.entry.recordID)
      parked.returning.append(parkedEntry.entry)
    }
  }

  /// Sends parked records again, before everything that is queued.
  mutating func reduceRetryParked(recordIDs: [RecordID]?) -> Bool {
    let entries = parkedEntries(recordIDs: recordIDs)
    returnToBatch(entries: entries)
    if !entries.isEmpty, hasNoQuotaLeft { endQuota() }
    return !entries.isEmpty
  }

  /// Drops parked records.
  mutating func reduceDropParked(recordIDs: [RecordID]?) -> Bool {
    let entries = parkedEntries(recordIDs: recordIDs)
    let error = SyncError(.droppedByApp, "the app dropped the record")
    for parkedEntry in entries {
      unpark(parkedEntry.entry.recordID)
      announce(.dropped(parkedEntry.entry.recordID, error))
    }
    if !entries.isEmpty, hasNoQuotaLeft { endQuota() }
    return !entries.isEmpty
  }

  private var hasNoQuotaLeft: Bool {
    parked.quota != nil && parked.probe == nil && !hasParkedForQuota
  }

  private func parkedEntries(recordIDs: [RecordID]?) -> [ParkedEntry] {
    guard let recordIDs else { return parked.inOrder }
    var found: [ParkedEntry] = []
    for recordID in recordIDs {
      guard let parkedEntry = parked.entries[recordID],
        !found.contains(where: { $0.number == parkedEntry.number })
      else { continue }
      found.append(parkedEntry)
    }
    return found
  }
}
