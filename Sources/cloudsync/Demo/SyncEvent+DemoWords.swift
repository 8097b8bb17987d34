import CloudSyncCore

extension SyncEvent {
  /// What happened, for somebody who has never seen a session; nil if it is of no interest.
  ///
  /// Outcomes are in the words of logs; only the numbers of attempts are left out.
  var demoWords: DemoWords? {
    let outcome = EventDescription(showsCauses: false).outcome(of: self)
    return switch self {
    case .startWork(let request) where request.mode == .createSubscription: nil
    case .startWork(let request):
      DemoWords(text: "sends a \(StateDescription.name(of: request)) request", isDetail: true)
    case .retryWork(let request):
      DemoWords(text: "sends the same \(StateDescription.name(of: request)) request again")
    case .workSuccess(_, .createSubscription): nil
    case .workSuccess(_, .fetch(let page)) where page.isEmpty: nil
    case .workSuccess: DemoWords(text: "response: \(outcome)", isDetail: true)
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.isOfInterest ? DemoWords(text: "response: \(outcome)", isDetail: true) : nil
    case .retry(_, let retry): DemoWords(of: retry)
    case .split, .startOver: DemoWords(text: outcome, isDetail: true)
    default: nil
    }
  }
}

extension DemoWords {
  /// Why a request is made again, and when.
  fileprivate init(of retry: Retry) {
    let end = StateDescription.end(of: retry.wait)
    let isOfStory = DemoNetwork.isOfStory(retry.error)
    if retry.isLost {
      // Only of the story's own accidents it is known that the cloud has done what it was told.
      let what = isOfStory ? "saved, response lost" : "no response"
      self.init(text: "\(what); retries the same request \(end)")
    } else {
      // Of the accidents beside the story there are many.
      self.init(text: "\(Self.text(of: retry.error)); retries \(end)", isDetail: !isOfStory)
    }
  }

  private static func text(of error: SyncError) -> String {
    switch error.code {
    case .requestRateLimited: "the cloud limits the rate"
    case .networkUnavailable: "no network"
    case .networkFailure: "the request is lost"
    case .serverResponseLost: "the response is lost"
    case .timedOut: "no response in time"
    case .zoneBusy: "the zone is busy"
    // The name in words says it too.
    default: "\(error.code)"
    }
  }
}

extension Settlement {
  /// Whether it says something that nobody else says: merges are told record by record.
  fileprivate var isOfInterest: Bool {
    let isMerged = verdicts.contains {
      if case .park(let error) = $0 { error.code == .awaitsAppEdit } else { false }
    }
    let isAllThere = verdicts.allSatisfy { if case .alreadyThere = $0 { true } else { false } }
    return !isMerged && (error != nil || isAllThere && !verdicts.isEmpty)
  }
}
