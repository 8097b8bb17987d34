public import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncEngine {
  // MARK: Account

  /// Says that the account may have changed: nothing is sent before its provider has answered.
  public func accountDidChange() { session?.accountDidChange() }

  /// Answers ``SyncQuestion/accountSwitched(from:to:)``.
  ///
  /// Without such a question it changes nothing.
  ///
  /// - Parameter decision: `discard` deletes the rows of the old account here and fetches the new one's;
  ///   edits that were not sent are lost. `adopt` merges all rows with the new account's, and uploads
  ///   them. `wait` leaves the question open: when the old account is back, all goes on.
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func resolveAccountSwitch(_ decision: AccountSwitchDecision) throws(SyncEngineError) {
    guard case .switched(_, let newcomer)? = session?.state.accountState else { return }
    switch decision {
    case .wait: break
    case .discard:
      try renew(.deletion, keepsOwner: false, owner: newcomer)
    case .adopt:
      try renew(.upload, keepsOwner: false, owner: newcomer)
    }
  }

  /// Takes what the provider has said.
  func take(_ status: AccountStatus) throws(SyncEngineError) {
    guard let session else { return }
    let now = session.state
    switch now.accountState {
    case .switched(let from, let to):
      let decision = options.accountSwitched(from, to)
      if decision == .wait { return questions.send(.accountSwitched(from: from, to: to)) }
      try resolveAccountSwitch(decision)
    case .ready:
      let wasAway = state.withLock { state in
        defer { state.isAway = false }
        return state.isAway
      }
      if wasAway {
        sendChanges()
        fetchChanges()
      }
    case .away:
      let wasAway = state.withLock { state in
        defer { state.isAway = true }
        return state.isAway
      }
      // Only the provider's word counts, and only for rows that somebody owns.
      guard status == .noAccount, !wasAway, now.account.owner != nil else { return }
      if options.signedOut() == .deleteLocalData { try deleteLocalData() }
    case .noProvider, .asking: break
    }
  }

  // MARK: Zone

  /// Answers ``SyncQuestion/zoneLost(_:)``.
  ///
  /// Without such a question it changes nothing.
  ///
  /// - Throws: That the database cannot be written; then nothing has changed.
  public func decideZone(_ decision: ZoneLossDecision) throws(SyncEngineError) {
    guard case .lost? = session?.state.zoneState else { return }
    switch decision {
    case .wait: break
    case .uploadAgain: try uploadEverything()
    case .deleteLocalData:
      try renew(.erasure, keepsOwner: true)
    }
  }

  /// Takes that the zone is gone.
  func take(_ loss: ZoneLoss) throws(SyncEngineError) {
    let losses = state.withLock { state in
      state.zoneLosses += 1
      return state.zoneLosses
    }
    let decision = losses > options.configuration.zoneBudget ? .wait : decision(about: loss)
    if decision == .wait { return questions.send(.zoneLost(loss)) }
    try decideZone(decision)
  }

  /// Looks whether another device has answered for the zone that is lost here: then nobody is asked any more.
  ///
  /// Only its record says so. A zone without it is being made, and whether rows are to be erased is not told yet.
  func lookForZone(_ generation: Int) {
    guard let (session, present) = running, present == generation,
      case .lost = session.state.zoneState
    else { return }
    let recordID = RecordID(name: ZoneRecord.name, zoneID: zoneID)
    fetch(FetchOperation(lookingUp: [recordID]), session, generation)
  }

  /// Takes the answer to a look-up while the zone is lost: it is what another device has made of it, if its
  /// record is there, and else nothing.
  func takeLostZone(_ page: FetchOperation.Response) throws(SyncEngineError) {
    if page.changedRecords.contains(where: { ZoneRecord($0) != nil }) {
      return try renew(.rejoining, keepsOwner: true)
    }
    session?.acknowledge(page.page, .stored)
  }

  private func decision(about loss: ZoneLoss) -> ZoneLossDecision {
    if let decide = options.zoneLost { return decide(loss) }
    return switch options.configuration.zonePolicy.action(for: loss) {
    case .recreate: .uploadAgain
    case .ask: .wait
    }
  }

  /// What the app has to answer; nil if nothing.
  public var question: SyncQuestion? {
    guard let state = session?.state else { return nil }
    if case .switched(let from, let to) = state.accountState {
      return .accountSwitched(from: from, to: to)
    }
    if case .lost(let loss) = state.zoneState { return .zoneLost(loss) }
    return nil
  }
}
