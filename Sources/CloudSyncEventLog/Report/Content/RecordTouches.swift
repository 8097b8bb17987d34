import CloudSyncCore

/// What an event did with records: the entries of their histories.
struct RecordTouches {
  /// The records with what happened to each, in order.
  private(set) var list: [(recordID: RecordID, verb: String)] = []

  /// - Parameters:
  ///   - event: The event.
  ///   - before: The state before it, where it is known.
  ///   - after: The state after it.
  init(_ event: SyncEvent, before: SyncState?, after: SyncState?) {
    switch event {
    case .doWork(.modify(let operation)):
      for record in operation.records { add(record.recordID, verb: "queued to be saved") }
      for recordID in operation.recordIDsToDelete { add(recordID, verb: "queued to be deleted") }
    case .workDropped(.modify(let operation)):
      for recordID in operation.itemIDs(from: 0) { add(recordID, verb: "dropped by a middleware") }
    case .startWork, .retryWork: addRequest(event: event, before: before, after: after)
    case .workSuccess(_, .modify(let response)):
      for record in response.savedRecords { add(record.recordID, verb: "saved") }
      for recordID in response.deletedRecordIDs { add(recordID, verb: "deleted") }
      for failure in response.failures {
        add(failure.recordID, verb: "failed: \(failure.error.code)")
      }
    case .workSuccess(_, .fetch(let response)):
      for record in response.changedRecords { add(record.recordID, verb: "fetched") }
      for deleted in response.deletedRecords { add(deleted.recordID, verb: "fetched: deleted") }
      for failure in response.failures { add(failure.recordID, verb: "unreadable") }
    case .settleItems(let attempt, let settlement), .resolveConflict(let attempt, let settlement):
      guard let before, before.flight?.attempt == attempt else { return }
      for (entry, verdict) in zip(before.requestedEntries, settlement.verdicts) {
        add(entry.recordID, verb: EventDescription.text(of: verdict))
      }
    case .retryParked(let ids): addParked(ids: ids, before: before, verb: "to be sent again")
    case .dropParked(let ids): addParked(ids: ids, before: before, verb: "dropped")
    case .workFailure, .retry, .split, .halt: addFailure(event: event, before: before)
    default: break
    }
  }

  private mutating func add(_ recordID: RecordID, verb: String) { list.append((recordID, verb)) }

  private mutating func addRequest(event: SyncEvent, before: SyncState?, after: SyncState?) {
    guard let after, let flight = after.flight, flight.attempt != before?.flight?.attempt else {
      return
    }
    let again = if case .retryWork = event { " again" } else { "" }
    for entry in after.requestedEntries {
      let purpose = flight.isLookup ? "look up" : entry.edit == nil ? "delete" : "save"
      add(entry.recordID, verb: "sent\(again) to \(purpose)")
    }
  }

  private mutating func addParked(ids: [RecordID]?, before: SyncState?, verb: String) {
    let all = ids ?? before?.parked.inOrder.map(\.entry.recordID) ?? []
    for recordID in all { add(recordID, verb: verb) }
  }

  private mutating func addFailure(event: SyncEvent, before: SyncState?) {
    let verb: String
    switch event {
    case .workFailure(_, let error): verb = "request failed: \(error.code)"
    case .retry(_, let retry): verb = "request failed, to be sent again: \(retry.error.code)"
    case .split(_, let split): verb = "request split: \(split.error.code)"
    case .halt(let error) where error.code != .stopped: verb = "session stopped: \(error.code)"
    default: return
    }
    guard let before, event.attempt == nil || event.attempt == before.flight?.attempt else {
      return
    }
    for entry in before.requestedEntries { add(entry.recordID, verb: verb) }
  }
}
