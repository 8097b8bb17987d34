import CloudSyncCore
import CloudSyncTestSupport

/// What is checked whenever the handler is called.
extension ScriptMemory {
  mutating func checkCall(
    _ call: SyncWork,
    _ context: RequestContext,
    _ state: SyncState,
    at now: Timestamp,
    elapsed: Int64
  ) {
    if let current {
      fail("\(context.attempt) was sent while \(current.attempt) was in flight")
    }
    callsInRow = elapsed == lastCallAt ? callsInRow + 1 : 0
    lastCallAt = elapsed
    expect(callsInRow < 200, "\(callsInRow) calls were made without any pause")
    expect(calls < 3_000, "\(calls) calls were made in all")
    expect(isRunning, "\(context.attempt) was sent while the session was not started")
    expect(
      state.flight?.attempt == context.attempt,
      "\(context.attempt) was sent, the state has \(String(describing: state.flight?.attempt))"
    )
    expect(state.hasGoodAccountStatus == true, "\(context.attempt) was sent without an account")
    expect(
      elapsed >= peace,
      "\(context.attempt) was sent \((peace - elapsed) / 1_000_000) ms before the server's time"
    )
    expect(elapsed >= pause, "\(context.attempt) was sent without any pause after a failure")
    expect(
      state.gate.opening(at: now) == nil,
      "\(context.attempt) was sent through a closed gate"
    )
    expect(
      context.deadline.nanoseconds
        == now.nanoseconds + plan.configuration.timeout.clampedNanoseconds,
      "\(context.attempt) has the deadline \(context.deadline)"
    )
    checkTurn(call, context, state)
    if case .modify(let operation) = call { checkModify(operation, context, state) }
    if call.mode == .modify || call.mode == .fetch { lastTurn = turn(of: call, state) }
    current = (context.attempt, call, context.writeToken)
  }

  /// Whose turn a call takes: a look-up for the sake of a modification takes that one's.
  private func turn(of call: SyncWork, _ state: SyncState) -> OperationMode {
    state.flight?.isLookup == true ? .modify : call.mode
  }

  /// Neither kind gets two requests in a row when the other has work.
  private mutating func checkTurn(
    _ call: SyncWork,
    _ context: RequestContext,
    _ state: SyncState
  ) {
    let turn = turn(of: call, state)
    guard call.mode == .modify || call.mode == .fetch, turn == lastTurn else { return }
    if case .lost = state.zoneState {
      expect(call.isLookup, "\(context.attempt) was sent to a lost zone")
      return
    }
    if turn == .modify {
      guard app.pending.isEmpty, state.fetch.awaited == nil else { return }
      let waiting = ledger.entries.first { $0.isFetch && $0.outcome == nil && !$0.isLost }
      if let waiting, waiting.id.number < state.nextOperation {
        fail("\(context.attempt) is a second modification while fetch \(waiting.id) waits")
      }
    } else if let waiting = ledger.entries.first(where: {
      !$0.isFetch && $0.outcome == nil && !$0.isLost
    }) {
      guard waiting.id.number < state.nextOperation else { return }
      fail("\(context.attempt) is a second fetch while modification \(waiting.id) waits")
    }
  }

  private mutating func checkModify(
    _ operation: ModifyOperation,
    _ context: RequestContext,
    _ state: SyncState
  ) {
    let attempt = context.attempt
    expect(operation.itemCount > 0, "\(attempt) is empty")
    expect(
      operation.itemCount <= plan.limits.items,
      "\(attempt) has \(operation.itemCount) items, the limit is \(plan.limits.items)"
    )
    let bytes =
      operation.records.reduce(0) { $0 + $1.byteCount }
      + operation.recordIDsToDelete.reduce(0) { $0 + $1.name.utf8.count }
    expect(
      operation.itemCount == 1 || bytes <= plan.limits.bytes,
      "\(attempt) has \(bytes) bytes, the limit is \(plan.limits.bytes)"
    )
    var names = operation.records.map(\.recordID.name)
    names += operation.recordIDsToDelete.map(\.name)
    expect(Set(names).count == names.count, "\(attempt) has a record twice")
    for name in names where state.parked.entries[SessionHarness.id(name)] != nil {
      fail("\(attempt) carries \(name), which is parked")
    }
    checkRepeat(operation, context)
    for entry in state.requestedEntries where entry.source != 0 {
      for number in [entry.source] + entry.furtherSources {
        guard let ticket = ledger.ticket(numbered: number) else { continue }
        expect(
          ticket >= resetBefore,
          "\(attempt) carries \(ledger.entries[ticket].id), which a reset has ended"
        )
        if case .failed = ledger.entries[ticket].outcome {
          fail("\(attempt) carries \(ledger.entries[ticket].id), which has ended")
        }
      }
    }
  }

  /// A lost request is sent again unchanged, and a token means one request only.
  private mutating func checkRepeat(_ operation: ModifyOperation, _ context: RequestContext) {
    if let lost {
      expect(
        lost.token == context.writeToken && lost.operation == operation,
        "\(context.attempt) was sent before the lost request was sent again unchanged"
      )
    }
    if let known = tokens[context.writeToken] {
      expect(known == operation, "\(context.attempt) reuses a token for another request")
    }
    tokens[context.writeToken] = operation
  }

  // MARK: What the events tell

  /// Looks at an event that was reduced.
  mutating func saw(_ record: EventRecord, _ state: SyncState, elapsed: Int64) {
    note("    event \(record.sequence) \(record.event.line)")
    if let last = records.last {
      expect(
        record.sequence == last.sequence + 1,
        "event \(record.sequence) follows \(last.sequence)"
      )
    }
    records.append(record)
    cover(record, state)
    if plan.keepsBytes { recordBytes += record.codedBytes }
    switch record.event {
    case .start: isRunning = true
    case .halt, .reset, .restored: isRunning = false
    case .retryNow:
      peace = 0
      pause = 0
    case .resolveAccountSwitch(let decision, _): if decision != .wait { voidRequests() }
    case .decideZone(.abandon): if state.modify.frozen == 0 { lost = nil }
    default: break
    }
    if case .reset = record.event { lost = nil; lastTurn = nil }
    if record.origin == .handler { sawAnswer(record, elapsed: elapsed) }
    if case .retry(let attempt, let retry) = record.event, retry.error.code == .timedOut,
      record.origin == .timer
    {
      sawTimeout(attempt)
    }
    // What the event itself lost may be given up with it.
    switch record.event {
    case .cancel, .retry: if state.modify.repeated == 0, isGivenUp(state) { lost = nil }
    // What a cancellation still waited for when the process ended is given up by the next one.
    case .restored where hasCancellations:
      if state.modify.repeated == 0, isGivenUp(state) { lost = nil }
    // Its deletions are handed back, whenever it is found that no response will come; the rest is another request.
    case _ where handsDeletionsBack:
      if state.modify.repeated == 0, isGivenUp(state) { lost = nil }
    default: break
    }
    hasCancellations = !state.modify.cancelling.isEmpty
    if let wait = record.event.ownWait, wait { pause = max(pause, elapsed + 500_000_000) }
    checkNext(state, at: record.time)
  }

  private var handsDeletionsBack: Bool {
    plan.configuration.refusedItems == .handBack
      && lost?.operation.recordIDsToDelete.isEmpty == false
  }

  /// Whether a lost request was given up in part, or is sent in parts from now on.
  private func isGivenUp(_ state: SyncState) -> Bool {
    guard let lost else { return false }
    let waiting = Set(state.modify.batch.map(\.recordID))
    let sent = lost.operation.records.map(\.recordID) + lost.operation.recordIDsToDelete
    return state.modify.part > 0 || !waiting.isSuperset(of: sent)
  }

  private mutating func voidRequests() {
    lost = nil
    peace = 0
    pause = 0
  }

  private mutating func sawTimeout(_ attempt: Attempt) {
    guard case .modify(let operation)? = current?.call, let current, current.attempt == attempt
    else { return }
    lose(operation, token: current.token)
  }

  /// Notes that a response was lost: its request comes again, unless parked records were tried, which is done once.
  mutating func lose(_ operation: ModifyOperation, token: WriteToken) {
    lost = present?.modify.isProbing == true ? nil : Lost(operation: operation, token: token)
  }

  /// A response was taken: it must be the first one of the attempt in flight.
  private mutating func sawAnswer(_ record: EventRecord, elapsed: Int64) {
    guard let attempt = record.event.attempt else { return }
    guard let answer = delivered[attempt] else {
      return fail("a response of \(attempt) was taken that nobody gave")
    }
    expect(taken.insert(attempt).inserted, "\(attempt) was taken twice")
    guard let current, current.attempt == attempt else {
      return fail("a response of \(attempt) was taken, which is not in flight")
    }
    self.current = nil
    if let wait = answer.serverWait {
      let capped = min(wait, 86_400_000_000_000)
      peace = max(peace, elapsed + capped)
    }
    if answer.losesZone { lost = nil }
    guard case .modify(let operation) = current.call else { return }
    switch answer {
    case .success: lost = nil
    case .failure(let error):
      switch error.code {
      case .serverResponseLost, .timedOut:
        lose(operation, token: current.token)
      case .partialFailure, .limitExceeded, .quotaExceeded: lost = nil
      default:
        let found = ErrorTable.disposition(of: error.code, for: .modify, in: .request)
        if found == .isolate { lost = nil }
      }
    }
  }

  /// What comes next is a pure function of state and time, and does not change before it says so.
  private mutating func checkNext(_ state: SyncState, at now: Timestamp) {
    let next = state.next(at: now)
    expect(state.next(at: now) == next, "what comes next was answered in two ways")
    guard case .wait(_, let until?) = next, until > now else { return }
    let before = until.advanced(byNanoseconds: -1)
    let half = now.advanced(byNanoseconds: now.distance(to: until) / 2)
    for time in [half, before] where time > now {
      if case .request = state.next(at: time) {
        fail("at \(now) nothing was to be done before \(until), but it is at \(time)")
      }
    }
  }
}

extension SyncEvent {
  /// Whether the session is to pause by itself.
  fileprivate var ownWait: Bool? {
    switch self {
    case .retry(_, let retry): retry.wait.serverNanoseconds == nil
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.wait.map { $0.serverNanoseconds == nil }
    default: nil
    }
  }
}

extension StubCloud.Answer {
  /// The longest wait that the server asks for in it.
  var serverWait: Int64? {
    var longest: Int64?
    func count(_ error: SyncError) {
      guard let wait = error.retryAfterNanoseconds, wait > 0 else { return }
      longest = Swift.max(longest ?? 0, wait)
    }
    switch self {
    case .success(.modify(let response)): response.failures.forEach { count($0.error) }
    case .success: break
    case .failure(let error):
      count(error)
      error.itemErrors.forEach { count($0.error) }
    }
    return longest
  }

  /// Whether it says that the zone is gone.
  var losesZone: Bool {
    func isLoss(_ error: SyncError) -> Bool {
      error.code == .zoneNotFound || error.code == .userDeletedZone
    }
    switch self {
    case .success(.modify(let response)): return response.failures.contains { isLoss($0.error) }
    case .success: return false
    case .failure(let error): return isLoss(error) || error.itemErrors.contains { isLoss($0.error) }
    }
  }
}
