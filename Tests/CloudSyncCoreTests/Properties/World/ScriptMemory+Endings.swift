import CloudSyncCore
import CloudSyncTestSupport

/// What is checked whenever the session announces something.
extension ScriptMemory {
  // MARK: Modifications

  mutating func completed(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response
  ) {
    note("    completed \(operation.id) unsaved \(response.unsaved.map(\.name))")
    guard let ticket = end(operation.id, .completed(response)) else { return }
    let number = operation.id.number
    expect(number > lastCompleted, "\(operation.id) completed after \(lastCompleted)")
    lastCompleted = number
    for entry in ledger.entries where entry.id.number < number && !entry.isFetch && !entry.isLost {
      if entry.outcome == nil, entry.ticket < ticket {
        fail("\(operation.id) completed before \(entry.id)")
      }
    }
    checkItems(ticket, response.failures, saved: response)
    for failure in response.failures {
      let name = failure.recordID.name
      setAside(failure, ticket: ticket)
      // A deletion that cannot be done gives way to the next save.
      if ledger.edit(ticket: ticket, record: name)?.change == .delete {
        ledger.tainted.insert(name)
      }
    }
    for record in response.savedRecords + response.alreadyInCloud { app.learn(record) }
    for recordID in response.deletedRecordIDs { app.known[recordID.name] = nil }
  }

  /// Every record of an operation is told once: saved or deleted, and then in the cloud, or not.
  private mutating func checkItems(
    _ ticket: Int,
    _ failures: [ItemFailure],
    saved: ModifyOperation.Response?
  ) {
    let entry = ledger.entries[ticket]
    let unsaved = failures.map(\.recordID.name)
    if let saved {
      let told =
        unsaved + saved.savedRecords.map(\.recordID.name)
        + saved.alreadyInCloud.map(\.recordID.name) + saved.deletedRecordIDs.map(\.name)
      expect(
        told.sorted() == entry.records.sorted(),
        "\(entry.id) is about \(entry.records), its ending about \(told)"
      )
    }
    for record in entry.records where !unsaved.contains(record) {
      guard let edit = ledger.edit(ticket: ticket, record: record), !ledger.isInCloud(edit) else {
        continue
      }
      if decidedRecords[record] != nil, plan.resolver != .client || edit.hasRemoval { continue }
      fail("\(entry.id) says that \(record) is done, but version \(edit.version) is not")
    }
  }

  mutating func failed(_ work: SyncWork, _ error: SyncError) {
    switch work {
    case .modify(let operation): failedModification(operation, error)
    case .fetch(let operation):
      note("    failed fetch \(operation.id) \(error.code)")
      guard let ticket = end(operation.id, .failed(error)) else { return }
      let given: Set<SyncError.Code> = [.reset, .accountSwitched, .zoneAbandoned, .cancelled]
      if given.contains(error.code), !ledger.entries[ticket].mayFail.contains(error.code) {
        fail("\(operation.id) failed with \(error.code), which nobody asked for")
      }
    default: fail("\(work.mode) was announced as failed")
    }
  }

  private mutating func failedModification(_ operation: ModifyOperation, _ error: SyncError) {
    note("    failed \(operation.id) \(error.code) \(error.itemErrors.map(\.recordID.name))")
    guard let ticket = end(operation.id, .failed(error)) else { return }
    expect(
      ledger.entries[ticket].mayFail.contains(error.code),
      "\(operation.id) failed with \(error), which nobody asked for"
    )
    expect(
      !error.itemErrors.isEmpty || operation.itemCount == 0,
      "\(operation.id) failed without any record"
    )
    checkItems(ticket, error.itemErrors, saved: nil)
    for failure in error.itemErrors {
      let name = failure.recordID.name
      switch failure.error.code {
      case .cancelled: ledger.markGivenUp(ticket: ticket, record: name)
      case .outcomeUnknown:
        ledger.markGivenUp(ticket: ticket, record: name)
        ledger.tainted.insert(name)
      case .reset, .accountSwitched, .zoneAbandoned:
        ledger.markGivenUp(ticket: ticket, record: name)
        // What had been parked before may have been merged into it.
        ledger.dropParked(name)
      default: setAside(failure, ticket: ticket)
      }
    }
  }

  /// Notes that a record was refused: the session has it still, or the app, which lets it be.
  private mutating func setAside(_ failure: ItemFailure, ticket: Int) {
    let name = failure.recordID.name
    guard plan.configuration.refusedItems == .handBack else {
      return ledger.markParked(ticket: ticket, record: name)
    }
    covered.insert("handed back as \(failure.error.code)")
    ledger.markGivenUp(ticket: ticket, record: name)
    let mayBeDone = [SyncError.Code.outcomeUnknown, .timedOut].contains(failure.error.code)
    // A response before that which refuses it may have been lost.
    if mayBeDone || ledger.requests[name] ?? 0 > 1 { ledger.tainted.insert(name) }
  }

  /// Notes the end of an operation; nil if it may not end now.
  private mutating func end(_ id: OperationID, _ outcome: ScriptLedger.Outcome) -> Int? {
    guard let ticket = ledger.ticket(of: id) else {
      fail("\(id) ended, which nobody submitted")
      return nil
    }
    let entry = ledger.entries[ticket]
    if let endedIn = entry.endedIn {
      expect(endedIn != process, "\(id) ended twice")
      expect(entry.outcome == outcome, "\(id) ended differently after a restart")
    }
    if case .failed(let error) = outcome { covered.insert("ends as \(error.code)") }
    if entry.endedIn != nil { covered.insert("told again after a restart") }
    ledger.entries[ticket].outcome = outcome
    ledger.entries[ticket].endedIn = process
    return ticket
  }

  /// Notes a call of an operation's own completion.
  mutating func closureCalled(_ ticket: Int, isSuccess: Bool) {
    ledger.entries[ticket].closureCalls += 1
    expect(ledger.entries[ticket].closureCalls == 1, "a completion was called twice")
    switch ledger.entries[ticket].outcome {
    case .completed, .fetched: expect(isSuccess, "a completion was told a failure")
    case .failed: expect(!isSuccess, "a completion was told a success")
    case nil: fail("a completion was called before its operation ended")
    }
  }

  mutating func parkedChanged(_ change: ParkedChange) {
    note("    parked \(change)")
    let name = change.recordID.name
    switch change {
    case .saved(let record), .alreadyInCloud(let record):
      app.learn(record)
      ledger.unpark(name)
    case .deleted: ledger.unpark(name)
    case .refused: break
    case .dropped(_, let error):
      expect(
        error.code != .droppedByApp || app.dropped.contains(name),
        "\(name) was dropped, which nobody asked for"
      )
      ledger.dropParked(name)
    }
  }

  // MARK: Pages

  /// Takes a page; returns whether the app is to be asked what it did with it.
  mutating func fetched(
    _ operation: FetchOperation,
    _ page: FetchOperation.Response
  ) -> PageAnswer? {
    note("    page \(page.page.number) of \(operation.id), last \(page.isLast)")
    let isRepeated = ledger.ticket(of: operation.id)
      .map {
        ledger.entries[$0].endedIn == process && ledger.entries[$0].outcome == .fetched(page)
      }
    if page.isLast, isRepeated != true || !plan.configuration.acknowledgesPages {
      _ = end(operation.id, .fetched(page))
    }
    // Announced once more after a restart, although it is stored; or another fetch ends with it.
    if page.page.number <= app.lastPage {
      return plan.configuration.acknowledgesPages ? .stored : nil
    }
    guard plan.configuration.acknowledgesPages else {
      store(page)
      return nil
    }
    app.pending[page.page] = page
    if isQuiet { return .stored }
    var random = SplitMix64(seed: plan.seed &+ page.page.number &* 77 &+ UInt64(records.count))
    return random.chance(1, in: 4) ? .notNow : .stored
  }

  /// Stores a page, and its token with it.
  mutating func store(_ page: FetchOperation.Response) {
    note("    stored page \(page.page.number): \(page.changedRecords.map(\.summary))")
    app.pending[page.page] = nil
    // The zone was lost meanwhile, and pages of a new one are stored.
    if page.page.number <= app.lastPage { return }
    app.lastPage = page.page.number
    if page.isBeginning { app.seen = [] }
    for record in page.changedRecords {
      app.mirror[record.recordID.name] = record
      app.learn(record)
      if page.startedOver { app.seen.insert(record.recordID.name) }
    }
    for recordID in page.deletedRecordIDs {
      app.mirror[recordID.name] = nil
      app.seen.remove(recordID.name)
    }
    noteUnread(page)
    if let token = page.changeToken { app.token = token }
    guard page.isLast, page.startedOver else { return }
    for name in ScriptPlan.names where !app.seen.contains(name) { app.mirror[name] = nil }
    app.seen = []
  }

  /// Remembers what a page could not bring, to look it up.
  private mutating func noteUnread(_ page: FetchOperation.Response) {
    guard plan.losesRecords else { return }
    app.unread.subtract((page.changedRecords.map(\.recordID) + page.deletedRecordIDs).map(\.name))
    for failure in page.failures {
      let name = failure.recordID.name
      if failure.error.code == .unknownItem {
        app.mirror[name] = nil
        app.unread.remove(name)
      } else {
        app.unread.insert(name)
        if page.startedOver { app.seen.insert(name) }
      }
    }
  }
}

extension ScriptLedger.Edit {
  /// Whether it removes a field, which has no version.
  var hasRemoval: Bool {
    if case .save(let fields) = change { fields.contains { $0.value == nil } } else { false }
  }
}
