import CloudSyncCore

extension SyncEvent {
  /// What happened in words for somebody who has never seen a session; nil if it is of no interest.
  var demoWords: String? {
    switch self {
    case .startWork(let request), .retryWork(let request): requestWords(request)
    case .workSuccess(_, .modify(let response)):
      "is told what is stored: "
        + "\(Words.count(response.savedRecords.count + response.deletedRecordIDs.count, "edit"))"
    case .workSuccess(_, .fetch(let page)) where !page.isEmpty:
      "receives \(Words.count(page.changedRecords.count, "row")), "
        + Words.count(page.deletedRecordIDs.count, "deletion")
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.demoWords
    case .retry(_, let retry): retry.demoWords
    case .split: "was told that this is too much at once: sends less"
    case .startOver: "was told that its place in the changes is too old: fetches everything"
    default: nil
    }
  }

  private func requestWords(_ request: SyncRequest) -> String? {
    if case .retryWork = self { return "sends the very same request again" }
    return switch request.mode {
    case .createZone: "has the zone made"
    case .createSubscription: nil
    case .modify: "sends its edits"
    case .fetch: request.isLookup ? "looks at what the cloud has" : "asks what is new"
    }
  }
}

extension Settlement {
  fileprivate var demoWords: String? {
    let isAllThere = verdicts.allSatisfy { if case .alreadyThere = $0 { true } else { false } }
    if isAllThere, !verdicts.isEmpty { return "is told that the cloud has the same already" }
    // Said of each record by the one who merges.
    let isMerged = verdicts.contains {
      if case .park(let error) = $0 { error.code == .awaitsAppEdit } else { false }
    }
    return isMerged ? nil : error.map { "is told “\($0.code)”" }
  }
}

extension Retry {
  fileprivate var demoWords: String {
    let milliseconds = (wait.nanoseconds ?? 0) / 1_000_000
    let time = "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
    if isLost { return "does not know whether that arrived: asks again in \(time)" }
    switch error.code {
    case .networkUnavailable, .networkFailure: return "has no network: tries again in \(time)"
    case .requestRateLimited: return "is asked to wait: tries again in \(time)"
    default: return "is told “\(error.code)”: tries again in \(time)"
    }
  }
}
