import CloudSyncCore
import CloudSyncSQLiteSupport

/// What has come is stored together.
extension EngineRun {
  /// Has a page or an answer wait for others, and stores them if nothing more is on its way.
  func join(_ item: CloudGroup.Item) {
    let isFirst = state.withLock { state in
      defer { state.join(item) }
      return state.group.isEmpty
    }
    if case .page(let page) = item { session.acknowledge(page.response.page, .stored) }
    let isDue = state.withLock { state in
      state.group.count >= CloudGroup.size || !state.expectsMore
    }
    if isDue { return store() }
    if isFirst { groupTimer?.schedule(after: CloudGroup.time) }
  }

  /// Stores what has waited long enough.
  func storeGroup() {
    if state.withLock({ !$0.group.isEmpty }) { store() }
  }

  /// Stores what has come, and sends what follows from it.
  private func store() { take { (run) throws(SyncEngineError) in try run.feed() } }

  /// Stores how far the cloud's history had come, which the session was told no later than anything that is stored now.
  ///
  /// - Returns: What is stored.
  func storeHistory(in transaction: SyncTransaction) throws(SQLiteError) -> [ChangeToken] {
    let stored = try transaction.facts.historyTokens()
    // Another engine on the same database may have stored what only it was told.
    history.take(stored, insteadOf: state.withLock { $0.storedHistory })
    let tokens = history.tokens
    if tokens != stored { try transaction.facts.setHistoryTokens(tokens) }
    return tokens
  }

  /// Notes that a transaction has stored a group, and what the session had learnt.
  func noteStored(_ group: CloudGroup, essence: [UInt8]?, outcome: TransactionOutcome) {
    state.withLock { state in
      state.isFetchDue = state.isFetchDue || outcome.needsFetch
      state.nextFetch = outcome.nextFetch ?? state.nextFetch
      if state.essence == essence { state.essence = nil }
      state.storedHistory = outcome.history
      state.group.remove(group)
    }
  }

  /// Does what follows from a group that is stored.
  func follow(_ stored: CloudGroup) {
    if stored.isEmpty { return }
    if stored.tellsOfZone { control.state.withLock { $0.zoneLosses = 0 } }
    let (isFetchDue, hasNext) = state.withLock { state in
      (stored.items.reduce(false) { state.take($1) || $0 }, state.nextFetch != nil)
    }
    guard isUnderWay else { return }
    if hasNext { fetchNext() } else if isFetchDue { fetchChanges() }
    sendChanges()
  }
}

extension EngineRun.State {
  fileprivate mutating func join(_ item: CloudGroup.Item) {
    group.append(item)
    if case .page(let page) = item { isPageDue = !page.response.isLast }
  }

  /// Whether a page or an answer is on its way that is not in the group.
  fileprivate var expectsMore: Bool {
    isPageDue && fetches > 0 || group.answerCount < inFlight.count
  }

  /// Takes that an item is stored; returns whether a fetch is due.
  fileprivate mutating func take(_ item: CloudGroup.Item) -> Bool {
    switch item {
    case .page(let page):
      isFetchDue = false
      if page.response.isLast { isZoneRecordRefused = false }
      return false
    case .answer(let number, let batch, let response):
      inFlight[number] = nil
      let failures = response.failures
      if batch.zone != nil, failures.contains(where: { $0.error.code != .awaitsAppEdit }) {
        isZoneRecordRefused = true
      }
      defer { isFetchDue = false }
      return isFetchDue && (response.hasMissing || fetches == 0)
    }
  }
}
