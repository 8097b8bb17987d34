extension SyncRegions {
  /// The app says that the account may have changed: nothing is sent before the provider has
  /// answered.
  mutating func reduceAccountDidChange() -> Bool {
    // A response that is on its way may be from before the change.
    account.ask(isUrgent: true)
    return true
  }

  mutating func reduceAccountStatus(
    status: AccountStatus,
    identity: AccountIdentity?,
    at now: Timestamp
  ) -> Bool {
    account.check = nil
    account.reported = status
    switch status {
    case .available: account.signIn(identity)
    case .noAccount: loseAccount(over: .signedOut, at: now)
    case .restricted: loseAccount(over: .restricted, at: now)
    case .couldNotDetermine: loseAccount(over: .undetermined, at: now)
    case .temporarilyUnavailable: loseAccount(over: .temporarilyUnavailable, at: now)
    }
    return true
  }

  /// Waits until the account is ready; it is asked about again after a growing wait.
  mutating func loseAccount(over trouble: AccountTrouble, at now: Timestamp) {
    guard account.canBeLost else { return }
    let length = waitLength(for: Wait(.account))
    gate.retries[.account] += 1
    account.lose(over: trouble, askAgain: Deadline(from: now, nanoseconds: length))
  }

  /// Takes the app's decision about the work of the account that is gone.
  mutating func reduceAccountSwitch(
    decision: AccountSwitchDecision,
    nonce: UInt64,
    at now: Timestamp
  ) -> Bool {
    guard case .switched(_, let newcomer) = account.status else { return false }
    switch decision {
    case .wait: return true
    case .discard:
      giveUpEverything(error: SyncError(.accountSwitched, "another account signed in"))
      beginEpoch(nonce: nonce)
      // The server's wait outlives the account: it is the cloud that asked for it.
      gate.forgetOwnWaits()
      invalidateTags()
    case .adopt:
      // What was given up meanwhile is not sent to the newcomer, and may be with the account that is gone.
      if let flight, flight.mode == .modify { modify.doubt(count: flight.count) }
      beginEpoch(nonce: nonce)
      applyCancellations()
      gate.forgetOwnWaits()
      invalidateTags()
      fetch.forgetTokens()
    }
    account.adopt(newcomer)
    zone.renewWishes()
    return true
  }
}
