extension EventDescription {
  /// What a session did because of an event at a time.
  ///
  /// - Parameters:
  ///   - effect: What it did.
  ///   - time: When the event happened.
  ///   - pending: The notifications of the state after the event, where that is known.
  /// - Returns: The words, as in `wake in 3 s`.
  package func text(
    of effect: EffectRecord,
    at time: Timestamp,
    pending: PendingNotifications? = nil
  ) -> String {
    switch effect {
    case .call(let attempt, let mode, let itemCount, _):
      let items = itemCount == 0 ? "" : " with \(Phrase.count(itemCount, "record"))"
      return "call \(StateDescription.name(of: mode)) \(attempt)\(items)"
    case .cancel(let attempt): return "cancel \(attempt)"
    case .wake(let end): return "wake in \(Phrase.duration(max(0, time.distance(to: end))))"
    case .publish(let publication): return "publish \(publication.names.joined(separator: "+"))"
    case .announce(let first, let count):
      let list = count == 1 ? " \(first)" : "s \(first)–\(first &+ count &- 1)"
      return "deliver notification\(list)\(notes(first: first, count: count, in: pending))"
    case .askAccount: return "check the account"
    case .closeSharedGate(let wait):
      return "tell other sessions to retry \(StateDescription.text(of: wait))"
    }
  }

  /// At most so many notifications are told one by one.
  private static let mostNotes: UInt64 = 12

  /// Notifications in brackets, if they are known and not too many.
  private func notes(first: UInt64, count: UInt64, in pending: PendingNotifications?) -> String {
    guard let pending, count > 0, count <= Self.mostNotes, first >= pending.first,
      first <= pending.end, count <= pending.end - first
    else { return "" }
    let texts = (first..<first + count).map { text(of: pending[$0]) }
    return " (\(texts.joined(separator: "; ")))"
  }

  private func text(of note: SyncNotification) -> String {
    switch note {
    case .modifyCompleted(let operation, let response):
      let failures = response.failures.count
      let rest = failures == 0 ? "" : ", \(Phrase.count(failures, "record")) not saved"
      return "modify \(operation.id) completed\(rest)"
    case .modifyFailed(let operation, let error, _):
      return "modify \(operation.id) failed: \(text(of: error))"
    case .fetchPage(let operation, let response):
      let last = response.isLast ? ", the last page" : ""
      return "page \(response.page.number) of fetch \(operation.id)\(last)"
    case .fetchFailed(let operation, let error):
      return "fetch \(operation.id) failed: \(text(of: error))"
    case .parked(let change): return text(of: change)
    }
  }

  private func text(of change: ParkedChange) -> String {
    let (id, what): (RecordID, String) =
      switch change {
      case .saved(let record): (record.recordID, "saved")
      case .alreadyInCloud(let record): (record.recordID, "already in the cloud")
      case .deleted(let id): (id, "deleted")
      case .refused(let id, let error): (id, "rejected again: \(error.code)")
      case .dropped(let id, let error): (id, "dropped: \(error.code)")
      }
    let name = showsNames ? " \(Phrase.readable(id.name, limit: 64))" : ""
    return "parked record\(name) \(what)"
  }
}
