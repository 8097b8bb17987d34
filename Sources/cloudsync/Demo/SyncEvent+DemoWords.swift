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
    case .retry:
      // Of the accidents beside the story there are many.
      DemoWords(
        text: Self.plain(outcome),
        isDetail: ["networkFailure", "zoneBusy", "timedOut"].contains { outcome.contains($0) }
      )
    case .split, .startOver: DemoWords(text: outcome, isDetail: true)
    default: nil
    }
  }

  /// An outcome without the names of errors.
  private static func plain(_ outcome: String) -> String {
    let words = [
      ("requestRateLimited", "the cloud limits the rate"), ("networkUnavailable", "no network"),
      ("serverResponseLost; the response is lost", "saved, but the response is lost"),
      ("networkFailure", "the request is lost"), ("zoneBusy", "the zone is busy"),
      ("timedOut", "no response in time"),
    ]
    return words.reduce(outcome) { text, word in text.replacing(word.0, with: word.1) }
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
