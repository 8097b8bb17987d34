/// Events in plain English, without their names: for loggers, logs and reports alike.
///
/// The words have numbers, codes and counts; never the values of records.
package struct EventDescription {
  /// Whether records are named.
  package var showsNames: Bool
  /// Whether the messages of errors are told.
  package var showsMessages: Bool

  package init(showsNames: Bool = false, showsMessages: Bool = false) {
    self.showsNames = showsNames
    self.showsMessages = showsMessages
  }

  /// What there is to say about an event; empty if its name says it all.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - flight: The request that was in flight, or that the event made, where that is known.
  package func text(of event: SyncEvent, flight: Flight? = nil) -> String {
    call(event) ?? report(event) ?? answer(event, flight: flight)
  }

  private func call(_ event: SyncEvent) -> String? {
    switch event {
    case .start, .retryNow, .connectivityChanged, .accountDidChange: ""
    case .halt(let error): text(of: error)
    case .reset, .restored: "a new epoch begins"
    case .doWork(let work): text(of: work)
    case .cancel(let id): "operation \(id)"
    case .retryParked(let ids), .dropParked(let ids):
      ids.map { Phrase.count($0.count, "record") + list($0.map(\.name)) } ?? "all records"
    case .acknowledge(let page, .stored): "page \(page.number) is stored"
    case .acknowledge(let page, .notNow): "page \(page.number) cannot be stored now"
    case .resolveAccountSwitch(let decision, _): "\(decision)"
    case .decideZone(let decision): "\(decision)"
    default: nil
    }
  }

  private func report(_ event: SyncEvent) -> String? {
    switch event {
    case .accountProviderAttached, .accountCheckStarted, .woke, .noop: ""
    case .accountStatusChanged(let status, _): "\(status)"
    case .gateClosed(let wait): "by another session: \(text(of: wait))"
    case .delivered(let number): "notifications before \(number)"
    default: nil
    }
  }

  private func answer(_ event: SyncEvent, flight: Flight?) -> String {
    let attempt = event.attempt.map { name(of: $0, flight: flight) } ?? ""
    switch event {
    case .startWork(let request), .retryWork(let request):
      return flight.map(StateDescription.text)
        ?? (request.isLookup ? "look-up" : StateDescription.name(of: request.mode))
    case .workSuccess(_, let result): return "\(attempt): \(text(of: result))"
    case .workFailure(_, let error):
      return "\(attempt): \(text(of: error))\(text(of: error.itemErrors))"
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      return "\(attempt): \(text(of: settlement))"
    case .retry(_, let retry):
      let what = retry.isLost ? "the response is lost; the same request again" : "again"
      return "\(attempt): \(text(of: retry.error)); \(what) after \(text(of: retry.wait))"
    case .split(_, let split):
      let reason = split.isTooLarge ? "too large" : "one record fails the request"
      return "\(attempt): \(text(of: split.error)); \(reason), the next request is smaller"
    case .startOver(_, let token, let error):
      let start = token == nil ? "the beginning" : "another token"
      return "\(attempt): \(text(of: error)); fetches from \(start)"
    case .failFetch(_, let error): return "\(attempt): \(text(of: error))"
    default: return ""
    }
  }

  /// An attempt with its kind of work, where that is known.
  private func name(of attempt: Attempt, flight: Flight?) -> String {
    guard let flight, flight.attempt == attempt else { return "\(attempt)" }
    return "\(flight.isLookup ? "look-up" : StateDescription.name(of: flight.mode)) \(attempt)"
  }

  /// The names of records in brackets, if they are to be shown.
  private func list(_ names: [String]) -> String {
    showsNames && !names.isEmpty ? " (\(Phrase.names(names)))" : ""
  }
}

// MARK: - Parts

extension EventDescription {
  private func text(of work: SyncWork) -> String {
    switch work {
    case .createZone(let operation): return "createZone \(Phrase.readable(operation.zoneID.name))"
    case .createSubscription: return "createSubscription"
    case .modify(let operation):
      var parts: [String] = []
      if !operation.records.isEmpty {
        let names = list(operation.records.map(\.recordID.name))
        parts.append("\(operation.records.count) to save\(names)")
      }
      if !operation.recordIDsToDelete.isEmpty {
        let names = list(operation.recordIDsToDelete.map(\.name))
        parts.append("\(operation.recordIDsToDelete.count) to delete\(names)")
      }
      return "modify \(operation.id): " + parts.joined(separator: ", ")
    case .fetch(let operation):
      return "fetch \(operation.id)\(operation.startingOver ? ", starting over" : "")"
    }
  }

  private func text(of result: SyncWork.Result) -> String {
    var parts: [String] = []
    func add(_ names: [String], _ what: String) {
      if !names.isEmpty { parts.append("\(names.count) \(what)\(list(names))") }
    }
    switch result {
    case .createZone(let isDone), .createSubscription(let isDone):
      return isDone ? "created" : "rejected"
    case .modify(let response):
      add(response.savedRecords.map(\.recordID.name), "saved")
      add(response.deletedRecordIDs.map(\.name), "deleted")
      if !response.failures.isEmpty {
        parts.append("\(response.failures.count) failed\(text(of: response.failures))")
      }
      return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    case .fetch(let page):
      add(page.changedRecords.map(\.recordID.name), "changed")
      add(page.deletedRecordIDs.map(\.name), "deleted")
      if !page.failures.isEmpty {
        parts.append("\(page.failures.count) failed\(text(of: page.failures))")
      }
      if parts.isEmpty { parts.append("no changes") }
      parts.append(page.hasMore ? "more to come" : "the last page")
      return parts.joined(separator: ", ")
    }
  }

  /// The first few errors of single records, if records are to be named.
  package func text(of failures: [ItemFailure]) -> String {
    guard showsNames, !failures.isEmpty else { return "" }
    let shown = failures.prefix(4)
      .map { "\(Phrase.readable($0.recordID.name, limit: 64)) \($0.error.code)" }
    let more = failures.count > 4 ? " and \(failures.count - 4) more" : ""
    return ": \(shown.joined(separator: ", "))\(more)"
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
    if let error = settlement.halt { parts.append("stops the session: \(text(of: error))") }
    if parts.isEmpty, let error = settlement.error { parts.append(text(of: error)) }
    if let loss = settlement.zone { parts.append("the zone is \(loss)") }
    if let trouble = settlement.account { parts.append("the account is \(trouble)") }
    if settlement.isTooLarge { parts.append("too large") }
    if let wait = settlement.wait { parts.append("waits \(text(of: wait))") }
    return parts.joined(separator: ", ")
  }

  /// What becomes of a record.
  package static func text(of verdict: ItemVerdict) -> String {
    switch verdict {
    case .saved: "saved"
    case .deleted: "deleted"
    case .alreadyThere: "already in the cloud"
    case .resolved: "in conflict, resolved, to be sent again"
    case .lookUp: "in conflict, to be looked up"
    case .recreate: "missing, to be saved anew"
    case .stay: "to be sent again"
    case .again(let error, _): "failed, to be retried: \(error.code)"
    case .park(let error): "parked: \(error.code)"
    case .parkForQuota: "parked until there is storage"
    }
  }

  /// An error's code, and its message if that is to be told.
  package func text(of error: SyncError) -> String {
    showsMessages && !error.message.isEmpty
      ? "\(error.code) (\(Phrase.readable(error.message)))" : "\(error.code)"
  }

  /// How long a wait is, and what for.
  package func text(of wait: Wait) -> String {
    guard let length = wait.nanoseconds ?? wait.serverNanoseconds else { return "\(wait.cause)" }
    return "\(Phrase.duration(length)) (\(wait.cause))"
  }
}

extension SyncEvent {
  /// The event's name and what there is to say about it, without names of records and messages.
  package var line: String {
    let text = EventDescription().text(of: self)
    return text.isEmpty ? name : "\(name) \(text)"
  }
}
