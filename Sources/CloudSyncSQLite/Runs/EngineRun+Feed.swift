import CloudSyncCore
import CloudSyncSQLiteSupport

/// What is sent, and what is looked up or fetched when nothing is.
extension EngineRun {
  /// Submits edits until two requests' worth of them is on its way.
  func feed() throws(SyncEngineError) {
    while isUnderWay {
      let step = try nextStep()
      note(step)
      if !step.batch.isEmpty {
        try submit(step.batch)
        continue
      }
      if step.comparesMore || step.goesOn { continue }
      if !step.lookups.isEmpty {
        // The zone's record tells whether it is still the zone that could have them.
        let names = step.lookups.map(\.name) + [ZoneRecord.name]
        let recordIDs = names.map { RecordID(name: $0, zoneID: context.zoneID) }
        let id = fetch(FetchOperation(lookingUp: recordIDs))
        state.withLock { $0.lookups[id] = step.lookups }
      }
      // Everything is fetched once this has told that the cloud has lost nothing.
      if step.isFetchAllDue, state.withLock({ $0.fetches == 0 }) { fetch(FetchOperation()) }
      noteNextLook(in: step.next)
      if let next = step.next, state.withLock({ $0.backlog.isEmpty }) {
        retryTimer?.schedule(after: (next + 1) * 1_000_000)
      }
      return
    }
  }

  /// Notes how much is left, and how far tables were compared.
  private func note(_ step: FeedStep) {
    let left = state.withLock { state in
      if !step.isFull { state.comparedTo = step.comparedTo }
      let isCounted = step.pending < PendingCount.limit
      state.isPendingKnown = !isCounted && (state.isPendingKnown || step.allPending != nil)
      let count = isCounted ? step.pending : step.allPending
      return count.map { $0 - state.rowsInFlight }
    }
    let batched = step.batch.rows.count + step.batch.found.count
    control.state.withLock { state in
      state.counts.pending = max(0, (left ?? state.counts.pending) - batched)
    }
  }

  /// Looks what is to be done next, in one transaction.
  private func nextStep() throws(SyncEngineError) -> FeedStep {
    let (limits, zoneID) = (context.handler.limits, context.zoneID)
    let (isFull, countsAll, mayMakeZone, cursor) = state.withLock { state in
      let isFull = state.recordsInFlight >= 2 * limits.items || !state.backlog.isEmpty
      let mayMakeZone =
        !state.isZoneRecordRefused && !state.inFlight.values.contains { $0.zone != nil }
      let cursor = UploadCursor(
        zoneID: zoneID,
        limits: limits,
        inFlight: Array(state.inFlight.values),
        position: state.comparedTo
      )
      return (isFull, !state.isPendingKnown, mayMakeZone, cursor)
    }
    let incarnation = Int64(bitPattern: context.environment.nonce())
    return try transaction { (transaction) throws(SQLiteError) in
      var search = FeedSearch(
        in: transaction,
        zoneID: zoneID,
        limits: limits,
        mayMakeZone: mayMakeZone,
        incarnation: incarnation,
        cursor: cursor
      )
      return try search.run(isFull: isFull, countsAll: countsAll)
    }
  }

  private func submit(_ batch: SentBatch) throws(SyncEngineError) {
    let zoneID = context.zoneID
    let operation = ModifyOperation(
      records: batch.records(in: zoneID),
      recordIDsToDelete: batch.removals.map { RecordID(name: $0.key.name, zoneID: zoneID) }
    )
    let id: OperationID
    do throws(RecordRuleViolation) { id = try session.modify(operation) } catch {
      return try setAside(error, in: batch)
    }
    state.withLock { $0.inFlight[Int64(id.number)] = batch }
  }

  /// Has a record wait that breaks a rule of the cloud's, so that the others are sent.
  private func setAside(
    _ violation: RecordRuleViolation,
    in batch: SentBatch
  ) throws(SyncEngineError) {
    try transaction { (transaction) throws(SQLiteError) in
      let isMeant = { (record: Record) in
        ["\(record.recordID)", "\(record.recordType) \(record.recordID)"]
          .contains(violation.subject)
      }
      // What was sent as it was found is pending from now on.
      let (_, found) = try FoundRows(transaction: transaction)
        .settle(batch.found, with: ModifyOperation.Response())
      for row in batch.rows + found where isMeant(row.record) {
        var reason = violation.description
        if case .size(_, let limit) = violation.rule {
          let oversized = OversizedRow(transaction: transaction, sent: row, limit: limit)
          if try oversized.forgetIfDeleted() { continue }
          if let column = oversized.reason { reason += "; \(column)" }
        }
        let event = RecordEvent.refused(
          .invalidRecord,
          reason: reason,
          isPassing: false,
          wait: nil,
          now: transaction.now
        )
        transaction.counts.parked += 1
        try transaction.reduce(event, of: row.key, in: row.table)
      }
      for record in batch.foreign where isMeant(record) {
        try transaction.stored.foreign
          .noteSent(named: record.recordID.name, error: violation.description)
      }
    }
  }

  /// Compares all tables from their first rows, also one that is being compared.
  func compareTables() {
    perform { (run) throws(SyncEngineError) in
      run.state.withLock { $0.comparedTo = nil }
      try run.transaction { (transaction) throws(SQLiteError) in
        try transaction.requestReconciliation()
      }
      try run.feed()
    }
  }

  /// Begins a fetch of everything if one is asked for.
  func fetchAllIfDue() throws(SyncEngineError) {
    guard isUnderWay, state.withLock({ $0.fetches == 0 }) else { return }
    let isDue = try transaction { (transaction) throws(SQLiteError) in
      try transaction.isFetchAllDue()
    }
    if isDue { fetch(FetchOperation(startingOver: true)) }
  }
}
