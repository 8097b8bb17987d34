public import CloudSyncCore
public import CloudSyncEventLog

extension SessionScript {
  /// What a run came to.
  public struct Outcome: Sendable {
    /// How an operation ended.
    public struct Completion: Sendable, Hashable {
      /// The operation.
      public var operation: OperationID
      /// The records of it that were parked or given up instead of saved.
      public var unsaved: [RecordID]
      /// The error that ended it; nil if it completed.
      public var error: SyncError.Code?
    }

    /// The error that the run ended in: the one that halted the session, or else the last one that
    /// ended an operation or parked a record; nil if there was none.
    public var finalError: SyncError.Code?
    /// The operations that ended, in order.
    public var completions: [Completion]
    /// How many events there were.
    public var eventCount: Int
    /// Whether the run was given up because it had too many events.
    public var isCutOff = false
    /// The state at the end.
    public var state: SyncState
  }
}

extension SessionScript.Outcome {
  /// What a recorded session came to, as far as its log goes.
  ///
  /// - Throws: An error if the log cannot be read or lacks lines.
  public init(_ log: EventLog) throws(LogError) {
    var tally = ScriptTally(state: log.header.state)
    try log.forEachStep { (step) throws(LogError) in
      var state = tally.state
      guard step.sequence == state.eventCount + 1 else {
        throw LogError(
          .noState,
          log: log.name,
          line: step.line,
          "lines are missing before event \(step.sequence), so it cannot be told what followed"
        )
      }
      state.reduce(step.record.event, at: step.record.time)
      tally.process(event: step.record.event, effects: step.effects, state: state)
      return true
    }
    self = tally.outcome
  }
}

/// Counts what a session comes to, event by event.
struct ScriptTally: Sendable {
  private(set) var state: SyncState
  private var completions: [SessionScript.Outcome.Completion] = []
  private var lastError: SyncError.Code?
  private(set) var eventCount = 0

  init(state: SyncState) { self.state = state }

  var outcome: SessionScript.Outcome {
    SessionScript.Outcome(
      finalError: state.haltReason?.error.code ?? lastError,
      completions: completions,
      eventCount: eventCount,
      state: state
    )
  }

  /// Takes the state in which an observation begins.
  mutating func begin(with state: SyncState) { self.state = state }

  mutating func process(event: SyncEvent, effects: [EffectRecord], state: SyncState) {
    self.state = state
    eventCount += 1
    switch event {
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      for case .park(let error) in settlement.verdicts { lastError = error.code }
      for case .parkForQuota(let error) in settlement.verdicts { lastError = error.code }
    default: break
    }
    for case .announce(let first, let count) in effects {
      let known = state.notifications.first..<state.notifications.end
      for number in (first..<first + count) where known.contains(number) {
        process(state.notifications[number])
      }
    }
  }

  private mutating func process(_ note: SyncNotification) {
    switch note {
    case .modifyCompleted(let operation, let response):
      lastError = response.failures.last?.error.code ?? lastError
      end(operation.id, unsaved: response.unsaved, error: nil)
    case .modifyFailed(let operation, let error, let response):
      end(operation.id, unsaved: response.unsaved, error: error.code)
    case .fetchPage(let operation, let response):
      if response.isLast { end(operation.id, unsaved: [], error: nil) }
    case .fetchFailed(let operation, let error): end(operation.id, unsaved: [], error: error.code)
    case .parked(.refused(_, let error)), .parked(.dropped(_, let error)): lastError = error.code
    case .parked(.saved), .parked(.alreadyInCloud), .parked(.deleted): break
    }
  }

  private mutating func end(
    _ id: OperationID,
    unsaved: [RecordID],
    error: SyncError.Code?
  ) {
    lastError = error ?? lastError
    completions.append(.init(operation: id, unsaved: unsaved, error: error))
  }
}
