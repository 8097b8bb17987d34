import CloudSyncCore

extension SyncEvent {
  /// What happened, for somebody who has never seen a session; nil if it is of no interest.
  ///
  /// Outcomes are in the words of logs; only the numbers of attempts are left out.
  var demoWords: String? {
    let outcome = EventDescription(showsCauses: false).outcome(of: self)
    return switch self {
    case .startWork(let request) where request.mode == .createSubscription: nil
    case .startWork(let request): "sends a \(StateDescription.name(of: request)) request"
    case .retryWork(let request):
      "sends the same \(StateDescription.name(of: request)) request again"
    case .workSuccess(_, .createSubscription): nil
    case .workSuccess(_, .fetch(let page)) where page.isEmpty: nil
    case .workSuccess: "response: \(outcome)"
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.isOfInterest ? "response: \(outcome)" : nil
    case .retry, .split, .startOver: outcome
    default: nil
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
