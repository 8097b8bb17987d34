import CloudSyncCore
import CloudSyncTestSupport

extension ScriptRun {
  /// The longest that everything may take once nothing fails any more.
  private static let patience: Duration = .seconds(4 * 3600)

  /// Stops all faults, retries what is parked, and waits until the session is idle.
  func finish() {
    memory.withLock { memory in
      memory.note("quiet phase")
      memory.isQuiet = true
      memory.cloud.behave(CloudBehavior(itemLimit: nil, refused: [], isFull: false))
      memory.trouble = nil
      if memory.cloud.account == nil {
        memory.cloud.signIn("A")
        memory.forgetAllVersions()
      }
    }
    settle(.zero)
    for round in 0..<10 where violation == nil {
      if round == 1, plan.seed % 4 == 0 { jumpClock(by: -50_000) }
      encourage(round)
      settle(.zero)
      world.runToEnd(limit: Self.patience)
      settle(.zero)
      if round > 0, isIdle { break }
    }
    guard violation == nil else { return }
    fetchTheRest()
    checkIdle()
    checkEverything()
  }

  /// Fetches once more, also if the process ends meanwhile.
  private func fetchTheRest() {
    var process = 0
    while violation == nil, process != memory.withLock({ $0.process }) {
      process = memory.withLock { $0.process }
      fetch(FetchOperation())
      // Of two in a row at most one is dropped.
      if plan.dropsCalls { fetch(FetchOperation()) }
      for _ in 0..<2 {
        settle(.zero)
        world.runToEnd(limit: Self.patience)
        comeToRest()
        encourage(9)
        for name in memory.withLock({ $0.app.unread.sorted() }) {
          fetch(FetchOperation(lookingUp: [SessionHarness.id(name)]))
        }
      }
      world.runToEnd(limit: Self.patience)
      comeToRest()
    }
  }

  /// Does all that an app can do to get things going.
  private func encourage(_ round: Int) {
    guard let session else { return }
    memory.withLock { $0.pause = 0 }
    if plan.hasProvider { session.accountDidChange() }
    session.start()
    settle(.zero)
    if case .switched = session.state.accountState {
      memory.withLock { memory in
        memory.app.forgetAccount()
        memory.forgetAllVersions()
        memory.peace = 0
      }
      session.resolveAccountSwitch(.adopt)
      settle(.zero)
    }
    if case .lost = session.state.zoneState { session.decideZone(.recreate) }
    if round > 2, plan.configuration.missingRecordPolicy == .park { dropHomeless() }
    if session.state.parked.entries.count > 0 { session.retryParked() }
    settle(.zero)
  }

  /// Drops what no retry can save: edits of records that the cloud does not have any more.
  private func dropHomeless() {
    let homeless = session?.state.parkedRecords.filter { $0.error.code == .unknownItem } ?? []
    memory.withLock { $0.app.dropped.formUnion(homeless.map(\.recordID.name)) }
    if !homeless.isEmpty { session?.dropParked(homeless.map(\.recordID)) }
    settle(.zero)
  }

  private var isIdle: Bool {
    guard let session else { return false }
    let state = session.state
    return !state.hasWorkQueued && state.parked.entries.isEmpty && !state.isHalted
  }

  private func checkIdle() {
    guard let session else { return }
    let state = session.state
    if isIdle { return }
    let now = world.now
    let reasons = state.explain(at: now).description
    fail(
      "it is not idle after the quiet phase: \(state.modifyQueue.count) modifications, "
        + "\(state.fetchQueue.count) fetches, \(state.parked.entries.count) parked; \(reasons)"
    )
  }

  /// Checks what must be true in the end.
  private func checkEverything() {
    guard let session else { return }
    let state = session.state
    memory.withLock { memory in
      for entry in memory.ledger.entries where !entry.isLost && entry.outcome == nil {
        memory.fail("\(entry.id) never ended")
      }
      for entry in memory.ledger.entries
      where !entry.isLost && entry.process == memory.process && entry.closureCalls != 1 {
        memory.fail("the completion of \(entry.id) was called \(entry.closureCalls) times")
      }
      if state.progress.waiting != 0 {
        memory.fail("\(state.progress.waiting) records are counted as waiting")
      }
      memory.checkCloud()
      memory.checkMirror()
    }
  }
}

extension ScriptMemory {
  /// Every record holds what the edits in their order make of it.
  fileprivate mutating func checkCloud() {
    guard plan.resolver == .client, !plan.sharesFields else { return }
    for name in ScriptPlan.names {
      if ledger.tainted.contains(name) { continue }
      var found: [String: Int] = [:]
      for field in cloud.zone[name]?.fields ?? [] where field.name != "d" {
        found[field.name] = field.value.int64Value.map(Int.init)
      }
      let wanted = ledger.expectation(name)
      expect(
        found == wanted,
        "\(name) is \(found.sorted(by: { $0.key < $1.key })) in the cloud, the edits make it "
          + "\(wanted.sorted(by: { $0.key < $1.key }))"
      )
    }
  }

  /// The pages of all fetches together made the zone's records.
  fileprivate mutating func checkMirror() {
    for name in ScriptPlan.names {
      let there = cloud.zone[name]
      let here = app.mirror[name]
      expect(
        here == there,
        "the mirror has \(here?.summary ?? "no \(name)"), the cloud \(there?.summary ?? "none")"
      )
    }
  }
}
