/// Events in plain English, without their names: for loggers, logs, reports and demonstrations alike.
///
/// The words have numbers, codes and counts; never the values of records.
package struct EventDescription {
  /// What is known of the request that was in flight, or that an event made.
  package enum Request {
    /// The state is not known.
    case unknown
    /// The state is known: this request was in flight, or none.
    case known(Flight?)
  }

  /// Whether records and zones are named.
  package var showsNames: Bool
  /// Whether the messages of errors are told.
  package var showsMessages: Bool
  /// Whether it is told what a retry waits for, beside its error.
  package var showsCauses: Bool

  package init(showsNames: Bool = false, showsMessages: Bool = false, showsCauses: Bool = true) {
    self.showsNames = showsNames
    self.showsMessages = showsMessages
    self.showsCauses = showsCauses
  }

  /// What there is to say about an event; empty if its name says it all.
  package func text(of event: SyncEvent, request: Request = .unknown) -> String {
    call(event) ?? report(event) ?? answer(event, request: request)
  }

  /// An event's name and what there is to say about it.
  package func line(of event: SyncEvent) -> String {
    let text = text(of: event)
    return text.isEmpty ? event.name : "\(event.name) \(text)"
  }

  private func call(_ event: SyncEvent) -> String? {
    switch event {
    case .start, .retryNow, .accountDidChange: ""
    case .halt(let error): text(of: error)
    case .reset: "to a new epoch"
    case .restored: "from stored bytes; a new epoch begins"
    case .doWork(let work): text(of: work)
    case .cancel(let id): "operation \(id)"
    case .connectivityChanged: "to online"
    case .retryParked(let ids), .dropParked(let ids):
      ids.map { Phrase.count($0.count, "record") + list($0.map(\.name)) } ?? "all records"
    case .acknowledge(let page, .stored): "page \(page.number): stored"
    case .acknowledge(let page, .notNow): "page \(page.number): cannot be stored now"
    case .resolveAccountSwitch(let decision, _): "\(decision)"
    case .decideZone(let decision): "\(decision)"
    default: nil
    }
  }

  private func report(_ event: SyncEvent) -> String? {
    switch event {
    case .accountProviderAttached, .accountCheckStarted, .noop: ""
    case .accountStatusChanged(let status, _): "\(status)"
    case .gateClosed(let wait): "by another session: retry \(StateDescription.text(of: wait))"
    case .delivered(let number): "notifications before \(number)"
    case .woke: "by the timer"
    case .workDropped(let work): "by a middleware: \(text(of: work))"
    default: nil
    }
  }

  private func answer(_ event: SyncEvent, request: Request) -> String {
    switch event {
    case .startWork(let made), .retryWork(let made): text(of: made, request: request)
    default:
      event.attempt.map { "\(name(of: $0, request: request)): \(outcome(of: event))" } ?? ""
    }
  }

  private func text(of made: SyncRequest, request: Request) -> String {
    switch request {
    case .unknown: StateDescription.name(of: made)
    case .known(nil): "\(StateDescription.name(of: made)): nothing to send"
    case .known(let flight?): StateDescription.text(of: flight)
    }
  }

  /// An attempt with its kind of work, where that is known.
  private func name(of attempt: Attempt, request: Request) -> String {
    switch request {
    case .unknown: "\(attempt)"
    case .known(let flight?) where flight.attempt == attempt:
      "\(StateDescription.name(of: flight)) \(attempt)"
    case .known: "\(attempt), no longer in flight"
    }
  }
}

// MARK: - Work and outcomes

extension EventDescription {
  private func text(of work: SyncWork) -> String {
    let name = StateDescription.name(of: work.mode)
    switch work {
    case .createZone(let operation): return name + list([operation.zoneID.name])
    case .createSubscription: return name
    case .modify(let operation):
      var parts: [String] = []
      add(operation.records.lazy.map(\.recordID), "to save", to: &parts)
      add(operation.recordIDsToDelete, "to delete", to: &parts)
      return "\(name) \(operation.id): \(parts.isEmpty ? "nothing" : joined(parts))"
    case .fetch(let operation):
      return "\(name) \(operation.id)\(operation.startingOver ? ", starting over" : "")"
    }
  }

  /// What became of a request, without naming it; empty if the event is not about one.
  package func outcome(of event: SyncEvent) -> String {
    switch event {
    case .workSuccess(_, let result): return text(of: result)
    case .workFailure(_, let error): return text(of: error) + text(of: error.itemErrors)
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      return text(of: settlement)
    case .retry(_, let retry):
      let end = StateDescription.end(of: retry.wait)
      let what =
        if retry.isLost { "the response is lost; retries the same request \(end)" } else {
          "retries \(showsCauses ? StateDescription.text(of: retry.wait) : end)"
        }
      return "\(text(of: retry.error)); \(what)"
    case .split(_, let split):
      let reason = split.isTooLarge ? "the request is too large" : "one record fails the request"
      return "\(text(of: split.error)); \(reason), the next one is smaller"
    case .startOver(_, let token, let error):
      return "\(text(of: error)); fetches from \(token == nil ? "the beginning" : "another token")"
    case .failFetch(_, let error): return text(of: error)
    default: return ""
    }
  }

  private func text(of result: SyncWork.Result) -> String {
    var parts: [String] = []
    switch result {
    case .createZone(let isDone), .createSubscription(let isDone):
      return isDone ? "created" : "rejected"
    case .modify(let response):
      add(response.savedRecords.lazy.map(\.recordID), "saved", to: &parts)
      add(response.deletedRecordIDs, "deleted", to: &parts)
      add(response.failures, to: &parts)
      return parts.isEmpty ? "nothing saved or deleted" : joined(parts)
    case .fetch(let page):
      add(page.changedRecords.lazy.map(\.recordID), "changed", to: &parts)
      add(page.deletedRecordIDs, "deleted", to: &parts)
      add(page.failures, to: &parts)
      if parts.isEmpty { parts.append("no changes") }
      return joined(parts + [page.hasMore ? "more to come" : "the last page"])
    }
  }

  private func text(of settlement: Settlement) -> String {
    var counts: [(text: String, count: Int)] = []
    for verdict in settlement.verdicts {
      let text = Self.text(of: verdict)
      if let place = counts.firstIndex(where: { $0.text == text }) {
        counts[place].count += 1
      } else {
        counts.append((text, 1))
      }
    }
    var parts = counts.map { "\($0.count) \($0.text)" }
    if let loss = settlement.zone { parts.append("the zone is lost: \(loss)") }
    if let trouble = settlement.account { parts.append("the account is unavailable: \(trouble)") }
    if settlement.isTooLarge { parts.append("too large, the next request is smaller") }
    if let wait = settlement.wait {
      parts.append("next request \(StateDescription.text(of: wait))")
    }
    if let error = settlement.halt { parts.append("stops the session: \(text(of: error))") }
    guard let error = settlement.error, error.code != settlement.halt?.code else {
      return joined(parts)
    }
    return parts.isEmpty ? text(of: error) : "\(text(of: error)); \(joined(parts))"
  }

  /// What becomes of a record.
  package static func text(of verdict: ItemVerdict) -> String {
    switch verdict {
    case .saved: "saved"
    case .deleted: "deleted"
    case .alreadyThere: "already in the cloud"
    case .resolved: "in conflict (resolved, to be sent again)"
    case .lookUp: "in conflict (to be looked up)"
    case .recreate: "missing in the cloud (to be saved anew)"
    case .stay: "to be sent again"
    case .again(let error, _): "failed (to be sent again): \(error.code)"
    case .park(let error): "parked: \(error.code)"
    case .parkForQuota: "parked until there is storage"
    }
  }

  /// An error's code, and its message if that is to be told.
  package func text(of error: SyncError) -> String {
    showsMessages && !error.message.isEmpty
      ? "\(error.code) (\(Phrase.readable(error.message)))" : "\(error.code)"
  }
}

// MARK: - Lists

extension EventDescription {
  /// The first few errors of single records after a colon, if records are to be named.
  package func text(of failures: [ItemFailure]) -> String {
    guard showsNames, !failures.isEmpty else { return "" }
    let shown = Phrase.firstFew(of: failures) {
      "\(Phrase.readable($0.recordID.name, limit: 64)) \($0.error.code)"
    }
    return ": \(shown)"
  }

  private func add(
    _ records: some Collection<RecordID>,
    _ what: String,
    to parts: inout [String]
  ) {
    if records.isEmpty { return }
    parts.append("\(records.count) \(what)\(list(records.map(\.name)))")
  }

  private func add(_ failures: [ItemFailure], to parts: inout [String]) {
    if !failures.isEmpty { parts.append("\(failures.count) failed\(text(of: failures))") }
  }

  private func joined(_ parts: [String]) -> String { parts.joined(separator: ", ") }

  /// The first few names in brackets, if they are to be shown.
  private func list(_ names: @autoclosure () -> [String]) -> String {
    // An operation may have a hundred thousand records, and most lines name none.
    guard showsNames else { return "" }
    let names = names()
    return names.isEmpty ? "" : " (\(Phrase.names(names)))"
  }
}

extension SyncEvent {
  /// The event in one line, without names of records and messages.
  package var line: String { EventDescription().line(of: self) }
}
