import CloudSyncCore

/// An event in one line of words.
struct EventWords {
  /// Whether messages are those of the cloud, and not digests of them.
  let hasMessages: Bool

  /// Longer texts are cut: a hostile log must not make the page unreadable.
  private static let longest = 240

  func text(of event: SyncEvent, flight: Flight?) -> String {
    let text = call(event: event) ?? report(event: event) ?? answer(event: event, flight: flight)
    return Self.cut(text)
  }

  static func cut(_ text: String) -> String {
    text.utf8.count <= longest ? text : String(text.unicodeScalars.prefix(longest)) + "…"
  }

  private func call(event: SyncEvent) -> String? {
    switch event {
    case .start: "start()"
    case .halt(let error): error.code == .stopped ? "stop()" : text(of: error)
    case .reset: "reset(): a new epoch begins"
    case .restored: "restored from stored bytes"
    case .doWork(let work): self.work(work: work)
    case .cancel(let id): "operation \(id)"
    case .retryNow: "retryNow()"
    case .connectivityChanged: "the network is back"
    case .retryParked(let ids), .dropParked(let ids):
      ids.map { StateWords.counted($0.count, "record") } ?? "all records"
    case .acknowledge(let page, .stored): "page \(page.number) is stored"
    case .acknowledge(let page, .notNow): "page \(page.number) cannot be stored now"
    case .accountDidChange: "the app says that the account may have changed"
    case .resolveAccountSwitch(let decision, _): "\(decision)"
    case .decideZone(let decision): "\(decision)"
    default: nil
    }
  }

  private func report(event: SyncEvent) -> String? {
    switch event {
    case .accountProviderAttached: "the account can be asked about"
    case .accountCheckStarted: "the account's status is asked for"
    case .accountStatusChanged(let status, _): "\(status)"
    case .gateClosed(let wait): "by another session: \(self.wait(wait: wait))"
    case .delivered(let number): "announcements before \(number)"
    case .woke: "the timer fired"
    case .noop: "nothing"
    default: nil
    }
  }

  private func answer(event: SyncEvent, flight: Flight?) -> String {
    let attempt = event.attempt.map { self.attempt(attempt: $0, flight: flight) } ?? ""
    switch event {
    case .startWork(let request), .retryWork(let request):
      return flight.map(StateWords.flight)
        ?? (request.isLookup ? "look-up" : "\(request.mode)") + ": nothing to send"
    case .workSuccess(_, let result): return "\(attempt): \(self.result(result: result))"
    case .workFailure(_, let error): return "\(attempt): \(text(of: error))"
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      return "\(attempt): \(self.settlement(settlement: settlement))"
    case .retry(_, let retry):
      let lost = retry.isLost ? ", the same request" : ""
      return "\(attempt): \(text(of: retry.error)); again\(lost) after \(wait(wait: retry.wait))"
    case .split(_, let split):
      let reason = split.isTooLarge ? "too large" : "one record spoils it"
      return "\(attempt): \(text(of: split.error)); \(reason), less is sent"
    case .startOver(_, let token, let error):
      let start = token == nil ? "the beginning" : "another token"
      return "\(attempt): \(text(of: error)); fetches from \(start)"
    case .failFetch(_, let error): return "\(attempt): \(text(of: error))"
    default: return ""
    }
  }

  private func attempt(attempt: Attempt, flight: Flight?) -> String {
    guard let flight, flight.attempt == attempt else { return "\(attempt), no longer awaited" }
    return flight.isLookup ? "look-up \(attempt)" : "\(flight.mode) \(attempt)"
  }

  private func work(work: SyncWork) -> String {
    switch work {
    case .createZone(let operation): return "zone \(operation.zoneID.name)"
    case .createSubscription: return "subscription"
    case .modify(let operation):
      var parts: [String] = []
      if !operation.records.isEmpty { parts.append("\(operation.records.count) to save") }
      if !operation.recordIDsToDelete.isEmpty {
        parts.append("\(operation.recordIDsToDelete.count) to delete")
      }
      return "modify \(operation.id): " + parts.joined(separator: ", ")
    case .fetch(let operation):
      let start = operation.startingOver ? ", starting over" : ""
      return "fetch \(operation.id)\(start)"
    }
  }

  private func result(result: SyncWork.Result) -> String {
    switch result {
    case .createZone(let done), .createSubscription(let done):
      return done ? "created" : "refused"
    case .modify(let response):
      let failed = response.failures.isEmpty ? "" : ", \(response.failures.count) refused"
      return "\(response.savedRecords.count) saved, \(response.deletedRecordIDs.count) deleted"
        + failed
    case .fetch(let response):
      let more = response.hasMore ? ", more follow" : ""
      return "\(response.changedRecords.count) changed, "
        + "\(response.deletedRecords.count) deleted\(more)"
    }
  }

  private func settlement(settlement: Settlement) -> String {
    var names: [String] = []
    var counts: [Int] = []
    for verdict in settlement.verdicts {
      let name = RecordTouches.verb(verdict: verdict)
      if let index = names.firstIndex(of: name) {
        counts[index] += 1
      } else {
        names.append(name)
        counts.append(1)
      }
    }
    var parts = zip(counts, names).map { "\($0) \($1)" }
    if let error = settlement.halt { parts.append("halts: \(text(of: error))") }
    if parts.isEmpty, let error = settlement.error { parts.append(text(of: error)) }
    if let loss = settlement.zone { parts.append("the zone is \(loss)") }
    if let trouble = settlement.account { parts.append("the account is \(trouble)") }
    if let wait = settlement.wait { parts.append("waits \(self.wait(wait: wait))") }
    return parts.joined(separator: ", ")
  }

  func text(of error: SyncError) -> String {
    var text = "\(error.code)"
    if hasMessages, !error.message.isEmpty { text += " (\(error.message))" }
    return text
  }

  func wait(wait: Wait) -> String {
    guard let length = wait.nanoseconds ?? wait.serverNanoseconds else { return "\(wait.cause)" }
    return "\(StateWords.duration(nanoseconds: length)) (\(wait.cause))"
  }
}
