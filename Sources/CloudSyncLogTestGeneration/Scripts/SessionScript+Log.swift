import CloudSyncCore
public import CloudSyncEventLog

extension SessionScript {
  /// Makes the script of a recorded session: what came in from outside, with its times.
  ///
  /// A log that begins with a new session gives a script that does. Any other gives one that restores
  /// the log's first state and starts it: its first requests repeat what was in flight. The session's
  /// own waits begin afresh then.
  ///
  /// - Throws: An error if the log cannot be read.
  public init(_ log: EventLog) throws(LogError) {
    var draft = ScriptDraft(log.header)
    draft.noteMiddleware(named: log.header.middleware)
    try log.forEachStep { (step) throws(LogError) in
      draft.process(step)
      return true
    }
    self = draft.finished
  }
}

/// A script while a log is read.
private struct ScriptDraft {
  private var script: SessionScript
  /// The time of the last step, from the beginning: a clock that was set back does not turn it back.
  private var elapsed: Int64 = 0
  /// The time of the last thing since the last call that came in and was no call.
  private var settled: Int64?
  /// The request whose response has not come, and when it was made.
  private var request: (attempt: Attempt, time: Int64, place: Int)?
  /// The question about the account whose response has not come, and when it was asked.
  private var question: (time: Int64, place: Int)?
  /// The numbers of operations that were given up.
  private var cancelled: [UInt64] = []

  init(_ header: LogHeader) {
    let state = header.state
    let fresh = SyncState(
      zoneID: state.zoneID,
      configuration: state.configuration,
      nonce: state.nonce
    )
    if state == fresh {
      script = SessionScript(
        zoneID: state.zoneID,
        configuration: state.configuration,
        time: header.time,
        nonces: [header.nonce]
      )
    } else {
      script = SessionScript(
        snapshot: SyncArchive.frame(of: state),
        time: header.time,
        nonces: [header.nonce]
      )
      goOn(from: state)
    }
    script.redaction = header.redaction
  }

  /// Has a restored session take up what it was about.
  private mutating func goOn(from state: SyncState) {
    if let flight = state.flight { expectAnswer(to: flight.attempt, mode: flight.mode) }
    if state.account.hasProvider {
      script.at(.zero, .attachAccountProvider)
      if state.account.check != nil {
        expectAccountAnswer()
      } else if let status = state.account.reported {
        script.answerAccount(status, state.account.owner)
      }
    }
    if case .running = state.phase { script.at(.zero, .start) }
  }

  /// Notes which middleware the session has besides the usual ones.
  mutating func noteMiddleware(named names: [String]) {
    let usual = CloudSyncSession.defaultChain(resolver: .client, resolveExpiredChangeToken: nil)
      .map(\.name)
    for name in names where !usual.contains(name) && name != "AccountStatusMiddleware" {
      if !script.foreignMiddleware.contains(name) { script.foreignMiddleware.append(name) }
    }
  }

  mutating func process(_ step: LogStep) {
    for input in step.chains {
      if case .middleware(let names) = input.content { noteMiddleware(named: names) }
    }
    elapsed = max(elapsed, script.time.distance(to: step.record.time))
    if let event = step.inputEvent { processInput(event: event, record: step.record) }
    // What is in the cloud already the session finds out by itself.
    for decision in step.record.decisions {
      if case .alreadyInCloud = decision { continue }
      script.decisions.append(decision)
    }
    for effect in step.effects {
      switch effect {
      case .call(let attempt, let mode, _, _): expectAnswer(to: attempt, mode: mode)
      case .askAccount: expectAccountAnswer()
      default: break
      }
    }
  }

  /// The script, when the log is at its end.
  var finished: SessionScript {
    var script = script
    script.duration = .nanoseconds(elapsed)
    for place in script.calls.indices {
      // Only operations that are given up need a name.
      switch script.calls[place].call {
      case .modify(let operation, let number?) where !cancelled.contains(number):
        script.calls[place].call = .modify(operation)
      case .fetch(let operation, let number?) where !cancelled.contains(number):
        script.calls[place].call = .fetch(operation)
      default: break
      }
    }
    return script
  }

  // MARK: Answers

  private mutating func expectAnswer(to attempt: Attempt, mode: OperationMode) {
    request = (attempt, elapsed, script.answers.count)
    script.answer(.lost(mode))
  }

  private mutating func expectAccountAnswer() {
    question = (elapsed, script.accountAnswers.count)
    script.answerAccount(nil)
  }

  private mutating func processAnswer(
    _ result: Result<SyncWork.Result, SyncError>,
    to attempt: Attempt
  ) {
    guard let request, request.attempt == attempt else { return }
    script.answers[request.place].content = .result(result)
    script.answers[request.place].delay = .nanoseconds(elapsed - request.time)
    self.request = nil
  }

  private mutating func processAccountAnswer(status: AccountStatus, identity: AccountIdentity?) {
    guard let question else { return }
    let delay = Duration.nanoseconds(elapsed - question.time)
    script.accountAnswers[question.place] = .init(
      status: status,
      identity: identity,
      delay: delay
    )
    self.question = nil
  }

  // MARK: Calls

  private mutating func processInput(event: SyncEvent, record: EventRecord) {
    switch event {
    case .workSuccess(let attempt, let result): processAnswer(.success(result), to: attempt)
    case .workFailure(let attempt, let error): processAnswer(.failure(error), to: attempt)
    case .accountStatusChanged(let status, let identity):
      processAccountAnswer(status: status, identity: identity)
    case .delivered, .noop: return
    default:
      if let call = call(of: event) { return add(call) }
    }
    settled = elapsed
  }

  private mutating func add(_ call: SessionScript.Call) {
    script.calls.append(
      .init(time: .nanoseconds(elapsed), isSettled: settled == elapsed, call: call)
    )
    settled = nil
  }

  /// The call that an event came from; nil if it came by itself.
  private mutating func call(of event: SyncEvent) -> SessionScript.Call? {
    switch event {
    case .start: return .start
    case .halt: return .stop
    case .reset(let nonce):
      script.nonces.append(nonce)
      return .reset
    case .doWork(.modify(let operation)):
      return .modify(operation.asGiven, as: operation.id.number)
    case .doWork(.fetch(let operation)):
      var given = operation
      given.id = .unassigned
      return .fetch(given, as: operation.id.number)
    case .cancel(let id):
      cancelled.append(id.number)
      return .cancel(id.number)
    case .retryNow: return .retryNow
    case .connectivityChanged: return .connectivityChanged
    case .retryParked(let ids): return .retryParked(ids)
    case .dropParked(let ids): return .dropParked(ids)
    case .acknowledge(let page, let answer): return .acknowledge(page, answer)
    case .accountProviderAttached: return .attachAccountProvider
    case .accountDidChange: return .accountDidChange
    case .resolveAccountSwitch(let decision, let nonce):
      script.nonces.append(nonce)
      return .resolveAccountSwitch(decision)
    case .decideZone(let decision): return .decideZone(decision)
    case .gateClosed(let wait): return .closeGate(wait)
    default: return nil
    }
  }
}

extension ModifyOperation {
  /// The operation as the app gave it, made from the one that was queued: without a name, and with
  /// whole records where it has ancestors.
  fileprivate var asGiven: ModifyOperation {
    var given = records
    var origins: [Record] = []
    for place in given.indices {
      guard let ancestor = ancestor(at: place) else { continue }
      let edit = records[place]
      var whole = ancestor.applying(edit)
      whole.recordType = edit.recordType
      whole.changeTag = edit.changeTag
      whole.parent = edit.parent
      whole.share = edit.share
      whole.creationDate = edit.creationDate
      whole.modificationDate = edit.modificationDate
      given[place] = whole
      origins.append(ancestor)
    }
    return ModifyOperation(
      records: given,
      recordIDsToDelete: recordIDsToDelete,
      checkpointID: checkpointID,
      userInfo: userInfo,
      ancestors: origins
    )
  }
}
