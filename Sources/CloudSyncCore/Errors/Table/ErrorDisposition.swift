/// What a session does about an error: the entries of ``ErrorTable``.
public enum ErrorDisposition: String, Sendable, Hashable, CaseIterable {
  /// Wait as for an absent network, then send again; no count, only a growing wait.
  case retryNetwork
  /// Wait as for a busy service, never less than it asks for, then send again; no count.
  case retryService
  /// Wait, then send again; a single record has a budget of such failures.
  case retryTransient
  /// The request may have been carried out: it is sent again unchanged, before other edits.
  case resendUnchanged
  /// Take half of what was sent; an item that is too large alone is parked.
  case split
  /// Send half of the same items until the culprit is alone, then treat it as an item.
  case isolate
  /// Ask the conflict resolver; refetch the record where the server's is not in the error.
  case resolveConflict
  /// Save the record anew if the policy says so, or park it; a deletion of it is done.
  case recordMissing
  /// Stays in its place and is sent with the next request.
  case stay
  /// Set aside with its error; the others go on.
  case park
  /// Saves are set aside until the next probe; deletions and fetches go on.
  case waitForQuota
  /// Wait until the account is ready, asking again with a growing wait.
  case waitForAccount
  /// Create the zone and the subscription, then go on.
  case createZone
  /// The zone policy decides; by default nothing is sent until the app has decided.
  case askAboutZone
  /// Fetch from the beginning, or from the token that the app's closure gives.
  case startOver
  /// The fetch ends as failed; the session goes on.
  case failFetch
  /// Go on without the subscription.
  case giveUpSubscription
  /// Look at the errors of the items.
  case unwrap
  /// Halt with the error and the work; the work is kept.
  case halt
}

extension ErrorDisposition {
  /// Whether the request is sent again as it was.
  package var isRetry: Bool {
    switch self {
    case .retryNetwork, .retryService, .retryTransient, .resendUnchanged: true
    default: false
    }
  }
}
