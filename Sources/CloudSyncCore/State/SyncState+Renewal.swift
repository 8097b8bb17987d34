extension SyncState {
  /// The state of a session that begins anew in place of this one.
  ///
  /// It has no work and nothing to announce, and knows neither zone nor tokens. What must not repeat
  /// goes on: the numbers of epochs, operations, attempts and pages. The wait that a server asked
  /// for stays while the account does.
  ///
  /// - Parameter owner: The account that the next work belongs to; nil for whoever is signed in.
  /// - Returns: The new state.
  package func renewed(owner: AccountIdentity?) -> SyncState {
    var fresh = SyncState(zoneID: zoneID, configuration: configuration, nonce: nonce)
    fresh.eventCount = eventCount
    fresh.epoch = epoch
    fresh.nextOperation = nextOperation
    fresh.nextAttempt = nextAttempt
    fresh.answered = answered
    fresh.fetch.nextPage = fetch.nextPage
    fresh.parked.next = parked.next
    fresh.account.owner = owner
    if owner == account.owner { fresh.gate.servers = gate.servers }
    return fresh
  }

  /// This state without anybody to ask about the account, for a session that has no provider.
  package var withoutAccountProvider: SyncState {
    guard account.hasProvider else { return self }
    var state = self
    state.account.hasProvider = false
    state.account.isCheckDue = false
    state.account.check = nil
    state.account.nextTry = nil
    if case .switched = account.status {} else { state.account.status = .noProvider }
    return state
  }
}
