import CloudSyncCore

/// Counts a log event by event.
struct StatisticsTally {
  private var statistics = LogStatistics()
  private var fold: LogFold
  /// How often each event was met, by the index of its case.
  private var kinds = [Int](repeating: 0, count: SyncEvent.names.count)
  private var origins = [Int](repeating: 0, count: EventRecord.Origin.allCases.count)
  /// How often each mode was asked for, by its raw value; look-ups at the end.
  private var requests = [Int](repeating: 0, count: OperationMode.allCases.count + 1)
  private var retries = CodeTally()
  private var errors = CodeTally()
  private var itemErrors = CodeTally()
  private var verdicts = Tally()
  private var halts = CodeTally()
  private var failed = CodeTally()
  private var times: [LogStatistics.Activity: Int64] = [:]
  /// When operations were submitted that have not ended.
  private var submissions: [UInt64: Timestamp] = [:]
  private var modifications: [Int64] = []
  private var fetches: [Int64] = []
  private var lastParked: UInt64
  private var wasHalted: Bool
  private var last: Timestamp?

  init(_ fold: LogFold) {
    self.fold = fold
    lastParked = fold.state.parked.next
    wasHalted = fold.state.isHalted
  }

  var eventCount: Int { statistics.eventCount }

  mutating func process(step: LogStep) {
    let record = step.record
    statistics.eventCount += 1
    kinds[record.event.caseIndex] += 1
    origins[record.origin.rawValue] += 1
    if statistics.firstTime == nil { statistics.firstTime = record.time }
    addTime(until: record.time)
    statistics.lastTime = record.time
    last = record.time
    for case .call(_, let mode, _, _) in step.effects {
      requests[record.event.isLookup ? requests.count - 1 : mode.rawValue] += 1
    }
    submit(record: record)
    let folded = fold.advance(step: step)
    guard folded.isKnown else { return }
    processAnswer(folded: folded)
    for note in folded.notes { end(note: note, at: record.time) }
    processChanges()
  }

  private mutating func submit(record: EventRecord) {
    switch record.event {
    case .doWork(.modify(let operation)): submissions[operation.id.number] = record.time
    case .doWork(.fetch(let operation)): submissions[operation.id.number] = record.time
    case .workDropped(.modify(let operation)): submissions[operation.id.number] = record.time
    case .workDropped(.fetch(let operation)): submissions[operation.id.number] = record.time
    default: break
    }
  }

  // MARK: Time

  private mutating func addTime(until now: Timestamp) {
    guard let last, last < now, fold.isKnown else { return }
    times[Self.activity(of: fold.state, at: last), default: 0] += last.distance(to: now)
  }

  /// What a state is doing.
  static func activity(of state: SyncState, at now: Timestamp) -> LogStatistics.Activity {
    if let flight = state.flight {
      switch flight.mode {
      case .createZone: return .createZone
      case .createSubscription: return .createSubscription
      case .modify: return .modify
      case .fetch: return flight.isLookup ? .lookup : .fetch
      }
    }
    guard case .wait(let reasons, _) = state.next(at: now) else { return .waiting }
    switch true {
    case reasons.contains(.stopped): return .halted
    case reasons.contains(.notStarted): return .notStarted
    case !reasons.isDisjoint(with: [.accountUnknown, .accountAway, .accountSwitched]):
      return .account
    case reasons.contains(.gate): return .waiting
    case reasons.contains(.zone): return .zone
    case reasons.contains(.acknowledgement): return .acknowledgement
    case reasons.contains(.quota): return .quota
    default: return .idle
    }
  }

  // MARK: Answers

  private mutating func processAnswer(folded: LogFold.Step) {
    guard folded.isAnswer else {
      if folded.event.attempt != nil { statistics.ignoredAnswers += 1 }
      return
    }
    addErrors(folded: folded)
    switch folded.event {
    case .workSuccess(_, .modify(let response)):
      statistics.savedRecords += response.savedRecords.count
      statistics.deletedRecords += response.deletedRecordIDs.count
    case .workSuccess(_, .fetch(let page)) where folded.ended?.isLookup == false:
      statistics.fetchedPages += 1
      statistics.fetchedRecords += page.changedRecords.count + page.deletedRecords.count
    case .retry(_, let retry):
      retries.add(retry.error.code)
      if retry.isLost { statistics.lostResponses += 1 }
    case .split: statistics.splits += 1
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      if settlement.isTooLarge { statistics.splits += 1 }
      add(settlement.verdicts)
    default: break
    }
  }

  private mutating func add(_ verdicts: [ItemVerdict]) {
    for verdict in verdicts {
      self.verdicts.add(verdict.name)
      switch verdict {
      case .saved, .alreadyThere: statistics.savedRecords += 1
      case .deleted: statistics.deletedRecords += 1
      default: break
      }
    }
  }

  /// Counts the errors of the response as it came in, before it was made into something else.
  private mutating func addErrors(folded: LogFold.Step) {
    switch folded.step.inputEvent ?? folded.event {
    case .workSuccess: break
    case .workFailure(_, let error): errors.add(error.code)
    default: if let error = folded.event.mainError { errors.add(error.code) }
    }
    for failure in folded.itemFailures {
      itemErrors.add(failure.error.code)
      if failure.error.code == .serverRecordChanged { statistics.conflicts += 1 }
    }
  }

  /// Counts what is seen only by the state after an event.
  private mutating func processChanges() {
    let parked = fold.state.parked.next
    statistics.parkedRecords += Int(clamping: parked - min(parked, lastParked))
    lastParked = parked
    let isHalted = fold.state.isHalted
    if isHalted, !wasHalted, let reason = fold.state.haltReason { halts.add(reason.error.code) }
    wasHalted = isHalted
  }

  // MARK: Operations

  private mutating func end(note: SyncNotification, at now: Timestamp) {
    switch note {
    case .modifyCompleted(let operation, _):
      if let length = length(of: operation.id, now: now) { modifications.append(length) }
    case .modifyFailed(let operation, let error, _):
      failed.add(error.code)
      if let length = length(of: operation.id, now: now) { modifications.append(length) }
    case .fetchPage(let operation, let page) where page.isLast:
      if let length = length(of: operation.id, now: now) { fetches.append(length) }
    case .fetchFailed(let operation, let error):
      failed.add(error.code)
      if let length = length(of: operation.id, now: now) { fetches.append(length) }
    case .fetchPage, .parked: break
    }
  }

  private mutating func length(of id: OperationID, now: Timestamp) -> Int64? {
    submissions.removeValue(forKey: id.number).map { max(0, $0.distance(to: now)) }
  }

  // MARK: The end

  /// The names of what was met, with their numbers.
  private static func counts(numbers: [Int], names: [String]) -> [LogStatistics.Count] {
    zip(numbers, names).filter { $0.0 > 0 }.map { LogStatistics.Count(name: $0.1, count: $0.0) }
  }

  mutating func finish() -> LogStatistics {
    var result = statistics
    result.kinds = Self.counts(numbers: kinds, names: SyncEvent.names.map { "\($0)" })
    result.origins = Self.counts(
      numbers: origins,
      names: EventRecord.Origin.allCases.map { "\($0)" }
    )
    result.requests = Self.counts(
      numbers: requests,
      names: OperationMode.allCases.map { "\($0)" } + ["lookup"]
    )
    result.retries = retries.counts
    result.errors = errors.counts
    result.itemErrors = itemErrors.counts
    result.verdicts = verdicts.counts(in: ItemVerdict.allNames)
    result.halts = halts.counts
    result.failedOperations = failed.counts
    result.times = LogStatistics.Activity.allCases.compactMap { activity in
      times[activity].map { LogStatistics.Share(activity: activity, nanoseconds: $0) }
    }
    result.modifications = LogStatistics.Durations(modifications)
    result.fetches = LogStatistics.Durations(fetches)
    result.openOperations =
      fold.isKnown
      ? fold.state.modifyQueue.count + fold.state.fetchQueue.count : submissions.count
    return result
  }
}

extension SyncEvent {
  /// Whether the event asks for records to be looked up.
  fileprivate var isLookup: Bool {
    if case .startWork(let request) = self { request.isLookup } else { false }
  }
}

extension ItemVerdict {
  static let allNames = [
    "saved", "deleted", "alreadyThere", "resolved", "lookUp", "recreate", "stay", "again", "park",
    "parkForQuota",
  ]
}

/// How often names were met.
struct Tally {
  private var numbers: [String: Int] = [:]

  mutating func add(_ name: String) { numbers[name, default: 0] += 1 }

  /// The counts of those names that were met, in the order of the names.
  func counts(in names: [String]) -> [LogStatistics.Count] {
    names.compactMap { name in
      numbers[name].map { LogStatistics.Count(name: name, count: $0) }
    }
  }
}

/// How often codes of errors were met.
struct CodeTally {
  private var numbers: [Int: Int] = [:]

  mutating func add(_ code: SyncError.Code) { numbers[code.rawValue, default: 0] += 1 }

  /// The counts in the order of the codes' numbers.
  var counts: [LogStatistics.Count] {
    numbers.sorted { $0.key < $1.key }
      .map { LogStatistics.Count(name: "\(SyncError.Code(rawValue: $0.key))", count: $0.value) }
  }
}
