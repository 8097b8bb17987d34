import CloudSyncCore
import CloudSyncSQLiteSupport

/// What became of what was sent.
struct SentAnswers: TransactionPart {
  let transaction: SyncTransaction

  /// Takes what became of rows that were sent; what is not told of them stays as it is, and is sent again.
  func take(
    _ response: ModifyOperation.Response,
    to batch: SentBatch
  ) throws(SQLiteError) {
    transaction.hasAnswers = true
    // They were sent, whatever is known of the zone by now: when they are met again there, nobody counts them.
    let saved = response.savedRecords.filter { !ZoneRecord.isName($0.recordID.name) }
    transaction.counts.sent += saved.count
    let response = batch.upToDate(response)
    if try transaction.zoneChanges() != batch.zoneChanges {
      // An answer that was told late tells of a zone that is gone.
      _ = try FoundRows(transaction: transaction)
        .settle(batch.found, with: ModifyOperation.Response())
      return
    }
    var sent: [String: SentRow] = [:]
    let (settled, others) = try FoundRows(transaction: transaction)
      .settle(batch.found, with: response)
    for row in batch.rows + others { sent[row.key.name] = row }
    for record in response.savedRecords {
      if let zone = ZoneRecord(record) ?? ownZone(savedAs: record) {
        try FetchOfEverything(transaction: transaction).takeAnswer(zone)
        continue
      }
      transaction.noteDate(of: record)
      try transaction.cloud.noteSave(of: record)
      if settled.contains(record.recordID.name) { continue }
      if let row = sent[record.recordID.name] {
        guard let tag = record.changeTag else { continue }
        try KindTrial(transaction: transaction).takeSave(of: row)
        let event = RecordEvent.saved(tag: tag, over: row.record.changeTag, row.version)
        let row = try reduce(event, of: row.key, in: row.table)
        try transaction.noteTombstone(row, of: record)
      } else {
        try stored.foreign.noteSent(named: record.recordID.name)
      }
    }
    let met = response.failures.compactMap(\.error.serverRecord)
    try MovedRows(transaction: transaction).leaveOverriddenKeys(in: response.alreadyInCloud + met)
    for record in response.alreadyInCloud {
      if let row = sent[record.recordID.name], try isOvertaken(row) { continue }
      try transaction.cloud.take(record)
    }
    let removed = Set(batch.removals.map(\.key.name))
    for failure in response.failures where !removed.contains(failure.recordID.name) {
      try take(failure, of: sent[failure.recordID.name])
    }
    try take(response, to: batch.removals)
  }

  /// Whether a page has told of a row since it was sent.
  private func isOvertaken(_ sent: SentRow) throws(SQLiteError) -> Bool {
    let state = try row(sent.key, in: sent.table).state
    return !state.awaitsAnswer(over: sent.record.changeTag)
  }

  /// Whether a row is still to be sent as it was sent.
  private func isUnmoved(_ sent: SentRow) throws(SQLiteError) -> Bool {
    let state = try row(sent.key, in: sent.table).state
    return state.isDirty && state.hold == nil && state.awaitsAnswer(over: sent.record.changeTag)
  }

  /// The record that this device has just saved, of which the answer need not have the fields.
  private func ownZone(savedAs record: Record) -> ZoneRecord? {
    ZoneRecord.isName(record.recordID.name) ? transaction.sentZone : nil
  }

  private func take(_ failure: ItemFailure, of row: SentRow?) throws(SQLiteError) {
    let error = failure.error
    switch error.code {
    case .awaitsAppEdit, .serverRecordChanged:
      if let zone = error.serverRecord.flatMap({ ZoneRecord($0) }) {
        return try FetchOfEverything(transaction: transaction).takeAnswer(zone)
      }
      if let row, try isOvertaken(row) { return }
      if let server = error.serverRecord { try transaction.cloud.take(server, meeting: row) }
      guard let row, try isUnmoved(row) else { return }
      // Nothing was learnt of it: sent again, it would only meet the same.
      let detail = error.code == .awaitsAppEdit ? "" : " (\(error))"
      let reason =
        "the cloud has a record of this name that no row here can be made of, as of another version of the app; bring"
        + " all devices to one version, or give this row another key\(detail)"
      transaction.counts.parked += 1
      try reduce(
        .refused(error.code, reason: reason, isPassing: false, wait: nil, now: now),
        of: row.key,
        in: row.table
      )
    case .unknownItem:
      guard let row else { return }
      try reduce(.missing(tag: row.record.changeTag, now: now), of: row.key, in: row.table)
    case .outcomeUnknown: break
    default:
      guard let row else {
        return try stored.foreign
          .noteSent(
            named: failure.recordID.name,
            error: error.description,
            next: error.passes ? now + RecordState.firstWait : nil
          )
      }
      try take(failure, of: row.key, in: row.table)
    }
  }

  /// Takes that the cloud has refused a row.
  func take(
    _ failure: ItemFailure,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    let error = failure.error
    let event = RecordEvent.refused(
      error.code,
      reason: error.description,
      isPassing: error.passes,
      wait: error.retryAfter.map { $0.clampedNanoseconds / 1_000_000 },
      now: now
    )
    let row = try reduce(event, of: key, in: place)
    if error.code == .invalidArguments {
      transaction.mayLearnKinds = true
      try KindTrial(transaction: transaction).takeRefusal(of: row, because: error.description)
    }
    if case .refusal = row.state.hold { transaction.counts.parked += 1 }
  }

  /// Takes what became of records that were to be deleted themselves.
  func take(
    _ response: ModifyOperation.Response,
    to removals: [SentRemoval]
  ) throws(SQLiteError) {
    if removals.isEmpty { return }
    var sent: [String: SentRemoval] = [:]
    for removal in removals { sent[removal.key.name] = removal }
    for recordID in response.deletedRecordIDs {
      guard let removal = sent[recordID.name] else { continue }
      try reduce(.absent(over: removal.tag), of: removal.key, in: removal.table)
      transaction.counts.sent += 1
    }
    for failure in response.failures {
      guard let removal = sent[failure.recordID.name] else { continue }
      switch failure.error.code {
      case .unknownItem: try reduce(.absent(over: removal.tag), of: removal.key, in: removal.table)
      // Whether it is done, the fetch tells that it waits for.
      case .outcomeUnknown: transaction.needsFetch = true
      default: try take(failure, of: removal.key, in: removal.table)
      }
    }
  }
}

extension SyncError {
  /// Whether a row that was refused with it is tried again by itself: a full storage is made free some day.
  fileprivate var passes: Bool { mayPass || code == .quotaExceeded }
}
