extension SyncState {
  mutating func reduceProviderAttached() -> Bool {
    guard !account.hasProvider else { return false }
    account.hasProvider = true
    account.status = .asking
    account.isCheckDue = true
    return true
  }

  /// The app says that the account may have changed: nothing is sent before the provider has
  /// answered.
  mutating func reduceAccountDidChange() -> Bool {
    if account.hasProvider {
      // An answer that is on its way may be from before the change.
      askAboutAccount(isUrgent: true)
    } else {
      trustAccount()
    }
    return true
  }

  /// Has the provider asked; `isUrgent` also while an answer is waited for.
  mutating func askAboutAccount(isUrgent: Bool) {
    account.nextTry = nil
    switch account.status {
    case .ready, .away, .noProvider: account.status = .asking
    case .asking, .switched: break
    }
    guard isUrgent else { return }
    account.check = nil
    account.isCheckDue = true
  }

  /// Without a provider, an account that was away is tried again.
  mutating func trustAccount() {
    guard !account.hasProvider, case .away = account.status else { return }
    account.status = .noProvider
    account.nextTry = nil
  }

  mutating func reduceAccountCheckStarted(at now: Timestamp) -> Bool {
    guard account.hasProvider, account.isCheckDue else { return false }
    account.isCheckDue = false
    account.check = Deadline(from: now, nanoseconds: cold.value.timeout)
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
    case .available: signIn(identity)
    case .noAccount: loseAccount(.signedOut, at: now)
    case .restricted: loseAccount(.restricted, at: now)
    case .couldNotDetermine: loseAccount(.undetermined, at: now)
    case .temporarilyUnavailable: loseAccount(.temporarilyUnavailable, at: now)
    }
    return true
  }

  private mutating func signIn(_ identity: AccountIdentity?) {
    // The wait keeps its length until something goes well: the provider and the cloud may disagree.
    account.nextTry = nil
    if let owner = account.owner, let identity, identity != owner {
      account.status = .switched(from: owner, to: identity)
      return
    }
    account.owner = identity ?? account.owner
    account.status = .ready(account.owner)
  }

  /// Waits until the account is ready; it is asked about again after a growing wait.
  mutating func loseAccount(_ trouble: AccountTrouble, at now: Timestamp) {
    // A quarantine is lifted only by the account's return or the app.
    if case .switched = account.status, !account.hasProvider { return }
    account.status = .away(trouble)
    let length = waitLength(for: Wait(.account))
    gate.retries[.account] += 1
    account.nextTry = Deadline(from: now, nanoseconds: length)
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
      gate = GateRegion()
      invalidateTags()
    case .adopt:
      beginEpoch(nonce: nonce)
      gate = GateRegion()
      invalidateTags()
      forgetFetchedTokens()
    }
    account.owner = newcomer
    account.status = .ready(newcomer)
    zone.zone = zone.zone.isWished ? .creating(nil) : .unknown
    zone.subscription = zone.subscription.isWished ? .creating : .unknown
    zone.creations = 0
    return true
  }

  /// Makes the tokens of a zone or an account that is gone void: fetches begin from nothing.
  mutating func forgetFetchedTokens() {
    fetch.lastToken = nil
    fetch.awaited = nil
    if fetch.run != nil {
      fetch.run?.token = nil
      fetch.run?.startedOver = true
    }
    var waiting = FetchQueue()
    for var operation in fetch.waiting {
      operation.changeToken = nil
      waiting.append(operation)
    }
    fetch.waiting = waiting
  }
}

extension ZoneState {
  /// Whether somebody has asked for the zone.
  var isWished: Bool { if case .unknown = self { false } else { true } }
}

extension SubscriptionState {
  /// Whether somebody has asked for the subscription.
  var isWished: Bool { if case .unknown = self { false } else { true } }
}
