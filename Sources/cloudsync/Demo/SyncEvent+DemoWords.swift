import CloudSyncCore

extension SyncEvent {
  /// What happened in a few words for somebody who has never seen a session; nil if it is of no
  /// interest. What is said of results, errors and waits are the words that logs have too.
  var demoWords: String? {
    let description = EventDescription()
    return switch self {
    case .retryWork: "sends the same request again"
    case .startWork(let request): request.demoWords
    case .workSuccess(_, .modify(let response)):
      "response: "
        + Phrase.count(response.savedRecords.count + response.deletedRecordIDs.count, "edit")
        + " stored"
    case .workSuccess(_, .fetch(let page)) where !page.isEmpty:
      "receives \(Phrase.count(page.changedRecords.count, "row")), "
        + Phrase.count(page.deletedRecordIDs.count, "deletion")
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.demoWords
    case .retry(_, let retry):
      retry.isLost
        ? "the response is lost: retries in \(Phrase.duration(retry.wait.nanoseconds ?? 0))"
        : "\(retry.error.demoReason): retries in \(Phrase.duration(retry.wait.nanoseconds ?? 0))"
    case .split(_, let split): "\(description.text(of: split.error)): the next request is smaller"
    case .startOver: "the change token has expired: fetches everything"
    default: nil
    }
  }
}

extension SyncRequest {
  fileprivate var demoWords: String? {
    switch mode {
    case .createZone: "creates the zone"
    case .createSubscription: nil
    case .modify: "sends its edits"
    case .fetch: isLookup ? "looks up the cloud's records" : "fetches changes"
    }
  }
}

extension Settlement {
  fileprivate var demoWords: String? {
    let isAllThere = verdicts.allSatisfy { if case .alreadyThere = $0 { true } else { false } }
    if isAllThere, !verdicts.isEmpty { return "response: already in the cloud" }
    // Said of each record by the one who merges.
    let isMerged = verdicts.contains {
      if case .park(let error) = $0 { error.code == .awaitsAppEdit } else { false }
    }
    return isMerged ? nil : error.map { "error: \($0.code)" }
  }
}

extension SyncError {
  fileprivate var demoReason: String {
    switch code {
    case .networkUnavailable, .networkFailure: "offline"
    case .requestRateLimited: "rate limited"
    default: "\(code)"
    }
  }
}
