extension SyncRegions {
  /// Sets an entry aside with its error, and tells its operations that it is not saved.
  mutating func park(
    _ entry: PendingChange,
    error: SyncError,
    isQuota: Bool = false,
    at now: Timestamp
  ) {
    let recordID = entry.recordID
    tellSources(of: entry, error: error)
    if configuration.refusedItems == .handBack, !entry.wasParked {
      if !isQuota, !error.mayPass, error.code != .awaitsAppEdit { parked.inRow += 1 }
      return
    }
    if entry.wasParked, entry.source == 0 {
      announce(.refused(recordID, error), reporter: entry.reporter)
    }
    let probe = isQuota ? nil : nextProbe(of: entry, after: error, at: now)
    var kept = entry
    kept.reporter = max(entry.reporter, entry.sources.max() ?? 0)
    kept.source = 0
    kept.furtherSources = []
    kept.wasParked = true
    kept.refresh()
    if probe != nil { kept.probe(entry.probes + 1, for: error) }
    var parkedEntry = ParkedEntry(
      entry: kept,
      error: error,
      number: parked.next,
      isQuota: isQuota,
      probe: probe
    )
    parkedEntry.waitsForAny =
      error.code == .referenceViolation
      && !parkedEntry.targets.contains { parked.entries[$0] != nil }
    parked.next += 1
    parked.park(parkedEntry)
    // A full storage, an app that merges by itself and what may pass say nothing against the record.
    if !isQuota, probe == nil, error.code != .awaitsAppEdit { parked.inRow += 1 }
  }

  /// Tells the operations of an entry that it is not saved.
  mutating func tellSources(of entry: PendingChange, error: SyncError) {
    modify.forEachSource(of: entry) { open in
      open.left -= 1
      open.addFailure(ItemFailure(entry.recordID, error))
    }
    progress.notDone += entry.sources.count
  }

  /// When a record is tried again by itself that is parked for an error that may pass.
  ///
  /// Never before the time that the server asked for; otherwise the wait goes on growing where the
  /// record's budget ended.
  private func nextProbe(
    of entry: PendingChange,
    after error: SyncError,
    at now: Timestamp
  ) -> Deadline? {
    guard error.mayPass else { return nil }
    let asked = error.serverWait
    let (retries, isEndless) = configuration.failureBudget.addingReportingOverflow(entry.probes)
    let length = backoff.length(
      of: asked ?? Wait(.transient),
      retries: asked != nil ? entry.probes : isEndless ? .max : retries,
      place: parked.next
    )
    return Deadline(from: now, nanoseconds: length)
  }

  /// Announces what became of a parked record: never before the operation that says it is parked.
  mutating func announce(_ change: ParkedChange, reporter: UInt64) {
    let isHeld =
      reporter != 0 && modify.open.change(operation: reporter) { $0.addFollowUp(change) } != nil
    if !isHeld { notifications.add(.parked(change)) }
  }

  /// What follows when records were parked: probes of the storage, or a halt after too many.
  mutating func afterParking(over flight: Flight, at now: Timestamp) {
    if !parked.entries.isEmpty {
      if let probe = parked.probe, parked.entries[probe] != nil {
        // The probe was refused, for want of storage or for a reason of its own.
        if parked.hasParkedForQuota { startQuotaWait(at: now) } else { endQuota() }
      } else if parked.quota == nil, parked.hasParkedForQuota {
        startQuotaWait(at: now)
      }
    }
    if parked.inRow >= configuration.parkingBudget {
      parked.inRow = 0
      let error = SyncError(
        .tooManyParked,
        "\(configuration.parkingBudget) records in a row were refused"
          + (parked.last.map { "; the last error is \($0.error.code)" } ?? "")
      )
      halt(error, over: flight, at: now)
    }
  }

  private mutating func startQuotaWait(at now: Timestamp) {
    let length = waitLength(for: Wait(.quota))
    gate.retries[.quota] += 1
    parked.waitForQuota(until: Deadline(from: now, nanoseconds: length))
  }

  private mutating func endQuota() {
    parked.endQuota()
    gate.retries[.quota] = 0
  }

  /// Sends one parked save as a probe when its time has come.
  @discardableResult
  mutating func probeQuota(at now: Timestamp) -> Bool {
    guard cold.value.parked.isQuotaDue(at: now) else { return false }
    parked.probeQuota()
    return true
  }

  /// Puts the records to be tried again at the front of the batch; returns how many they are.
  ///
  /// They travel by themselves, lest what is wrong with them comes over the others, and in turn with
  /// the others. Each has one attempt and is then parked for longer, so that it costs one place in a
  /// request for each of its growing waits, however many there are.
  mutating func takeProbes(limits: RequestLimits, at now: Timestamp) -> Int {
    guard parked.isProbeDue(at: now) else { return 0 }
    let isAlone = modify.batch.isEmpty && modify.queue.isEmpty && parked.returning.isEmpty
    guard isAlone || !modify.othersFirst else { return 0 }
    let probes = parked.takeDue(limits: limits, at: now)
    modify.batch.insert(contentsOf: probes, at: 0)
    modify.isProbing = true
    modify.othersFirst = true
    return probes.count
  }

  /// Parks those again that were tried and of which nothing was said: soon, or later where the whole
  /// request failed in passing.
  mutating func parkProbesAgain(after error: SyncError?, at now: Timestamp) {
    guard modify.isProbing, modify.frozen == 0 else { return }
    modify.isProbing = false
    let probes = modify.batch.filter { $0.probes > 0 }
    modify.batch.removeAll { $0.probes > 0 }
    for var entry in probes {
      guard let reason = entry.probedFor else { continue }
      var length: Int64 = 0
      if let error, error.mayPass {
        length = nextProbe(of: entry, after: error, at: now)?.length ?? 0
        entry.probe(entry.probes + 1, for: reason)
      }
      parked.park(
        ParkedEntry(
          entry: entry,
          error: reason,
          number: parked.next,
          isQuota: false,
          probe: Deadline(from: now, nanoseconds: length)
        )
      )
      parked.next += 1
    }
  }

  /// Storage is free again: everything that waited for it is sent.
  mutating func quotaIsFree() {
    endQuota()
    parked.returnToBatch(parked.recordsForQuota)
  }

  /// Tries records again that were refused because of another one, which is saved now.
  ///
  /// Those that refer to it are tried again, and if it had been parked also those of which nobody
  /// knows what they wait for. One that refers to another parked record waits for that one: it would
  /// only be refused again.
  mutating func returnDependents(of recordID: RecordID, wasParked: Bool) {
    parked.returnToBatch(parked.dependents(of: recordID, wasParked: wasParked))
  }

  /// Sends parked records again, before everything that is queued.
  mutating func reduceRetryParked(recordIDs: [RecordID]?) -> Bool {
    let isAnyParked = parked.returnToBatch(recordIDs ?? parked.records, isAskedFor: true)
    if isAnyParked, parked.hasNoQuotaLeft { endQuota() }
    return isAnyParked
  }

  /// Drops parked records.
  mutating func reduceDropParked(recordIDs: [RecordID]?) -> Bool {
    let error = SyncError(.droppedByApp, "the app dropped the record")
    var isAnyParked = false
    for recordID in recordIDs ?? parked.records {
      guard let change = parked.unpark(recordID)?.entry else { continue }
      announce(.dropped(recordID, error), reporter: change.reporter)
      isAnyParked = true
    }
    if isAnyParked, parked.hasNoQuotaLeft { endQuota() }
    return isAnyParked
  }
}
