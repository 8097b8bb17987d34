import CloudSyncCore

/// What was done because of an event, in words.
struct EffectWords {
  /// The state after the event, where it is known.
  let state: SyncState?
  let time: Timestamp
  let words: EventWords

  /// At most so many announcements are told one by one.
  private static let mostNotes: UInt64 = 12

  func text(of effect: EffectRecord) -> String {
    switch effect {
    case .call(let attempt, let mode, let itemCount, _):
      let items = itemCount == 0 ? "" : " with \(StateWords.counted(itemCount, "record"))"
      return "calls the handler: \(mode) \(attempt)\(items)"
    case .cancel(let attempt): return "tells the handler to give up \(attempt)"
    case .wake(let wakeTime):
      return
        "sets the timer: in \(StateWords.duration(nanoseconds: max(0, time.distance(to: wakeTime))))"
    case .publish(let publication):
      return "publishes \(publication.names.joined(separator: ", "))"
    case .announce(let first, let count): return "announces \(notes(first: first, count: count))"
    case .askAccount: return "asks about the account"
    case .closeSharedGate(let wait):
      return "tells other sessions to wait: \(words.wait(wait: wait))"
    }
  }

  private func notes(first: UInt64, count: UInt64) -> String {
    guard let region = state?.notifications, count <= Self.mostNotes, first >= region.first,
      first <= region.end, count <= region.end - first
    else { return count == 1 ? "announcement \(first)" : "\(count) things, from \(first) on" }
    return (first..<first + count).map { note(region[$0]) }.joined(separator: "; ")
  }

  private func note(_ note: SyncNotification) -> String {
    switch note {
    case .modifyCompleted(let operation, let response):
      let failures = response.failures.count
      let rest = failures == 0 ? "" : ", \(StateWords.counted(failures, "record")) not saved"
      return "modify \(operation.id) completed\(rest)"
    case .modifyFailed(let operation, let error, _):
      return "modify \(operation.id) failed: \(words.text(of: error))"
    case .fetchPage(let operation, let response):
      let last = response.isLast ? ", the last" : ""
      return "page \(response.page.number) of fetch \(operation.id)\(last)"
    case .fetchFailed(let operation, let error):
      return "fetch \(operation.id) failed: \(words.text(of: error))"
    case .parked(.saved(let record)): return "\(record.recordID.name) saved after all"
    case .parked(.alreadyInCloud(let record)):
      return "\(record.recordID.name) was in the cloud already"
    case .parked(.deleted(let id)): return "\(id.name) deleted after all"
    case .parked(.refused(let id, let error)): return "\(id.name) refused again: \(error.code)"
    case .parked(.dropped(let id, let error)): return "\(id.name) given up: \(error.code)"
    }
  }
}
