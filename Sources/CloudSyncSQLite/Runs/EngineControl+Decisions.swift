import CloudSyncCore
import CloudSyncSQLiteSupport

/// What becomes of the rows when the account changes, or the zone is lost.
extension EngineControl {
  // MARK: Account

  func resolveAccountSwitch(_ decision: AccountSwitchDecision) throws(SyncEngineError) {
    guard case .switched(_, let newcomer)? = run?.session.state.accountState else { return }
    switch decision {
    case .wait: break
    case .discard: try renew(.deletion, keepsOwner: false, owner: newcomer)
    case .adopt: try renew(.upload, keepsOwner: false, owner: newcomer)
    }
  }

  /// Takes what the provider has said.
  func take(_ status: AccountStatus, in run: EngineRun) throws(SyncEngineError) {
    let now = run.session.state
    switch now.accountState {
    case .switched(let from, let to):
      let decision = context.options.accountSwitched(from, to)
      if decision == .wait {
        return context.publishers.questions.send(.accountSwitched(from: from, to: to))
      }
      try resolveAccountSwitch(decision)
    case .ready:
      guard noteAway(false) else { return }
      run.sendChanges()
      run.fetchChanges()
    case .away:
      // Only the provider's word counts, and only for rows that somebody owns.
      let wasAway = noteAway(true)
      guard status == .noAccount, !wasAway, now.account.owner != nil else { return }
      if context.options.signedOut() == .deleteLocalData {
        try renew(.deletion, keepsOwner: false)
      }
    case .noProvider, .asking: break
    }
  }

  /// Notes whether the account is away; returns whether it was.
  private func noteAway(_ isAway: Bool) -> Bool {
    state.withLock { state in
      defer { state.isAway = isAway }
      return state.isAway
    }
  }

  // MARK: Zone

  func decideZone(_ decision: ZoneLossDecision) throws(SyncEngineError) {
    guard case .lost? = run?.session.state.zoneState else { return }
    switch decision {
    case .wait: break
    case .uploadAgain: try renew(.upload, keepsOwner: true)
    case .deleteLocalData: try renew(.erasure, keepsOwner: true)
    }
  }

  /// Takes that the zone is gone.
  func take(_ loss: ZoneLoss) throws(SyncEngineError) {
    let losses = state.withLock { state in
      state.zoneLosses += 1
      return state.zoneLosses
    }
    let decision =
      losses > context.options.configuration.zoneBudget ? .wait : decision(about: loss)
    if decision == .wait { return context.publishers.questions.send(.zoneLost(loss)) }
    try decideZone(decision)
  }

  private func decision(about loss: ZoneLoss) -> ZoneLossDecision {
    if let decide = context.options.zoneLost { return decide(loss) }
    return switch context.options.configuration.zonePolicy.action(for: loss) {
    case .recreate: .uploadAgain
    case .ask: .wait
    }
  }
}
