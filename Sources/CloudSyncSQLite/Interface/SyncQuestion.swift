public import CloudSyncCore

/// What an engine asks the app, and waits for: no row is sent, fetched or deleted meanwhile, and edits are
/// captured as always.
public enum SyncQuestion: Sendable, Hashable {
  /// Another account signed in than the one that the rows belong to; answer with
  /// ``SyncEngine/resolveAccountSwitch(_:)``.
  case accountSwitched(from: AccountIdentity, to: AccountIdentity)
  /// The zone is gone from the cloud; answer with ``SyncEngine/decideZone(_:)``.
  ///
  /// Once another device has answered, a start or a fetch finds the zone again: the question is closed then,
  /// and the answer holds here too.
  case zoneLost(ZoneLoss)
}

/// What becomes of the rows when the user signs out.
public enum SignOutDecision: Sendable, Hashable, CaseIterable {
  /// They stay, nothing is sent; edits go to the cloud when the same account is back.
  case keepRows
  /// The rows of the synchronized tables are deleted, with edits that the cloud has not got.
  case deleteLocalData
}

/// What becomes of the rows when the cloud has lost their zone.
public enum ZoneLossDecision: Sendable, Hashable, CaseIterable {
  /// They stay, and the zone is made anew with all of them.
  case uploadAgain
  /// The rows of the synchronized tables are deleted, with edits that the cloud has not got, and the zone is made anew.
  ///
  /// Other devices delete the rows that the lost zone had, with unsent edits of them; they keep rows that were never in
  /// it, and upload them.
  case deleteLocalData
  /// They stay, and nothing is sent until the app has decided.
  case wait
}
