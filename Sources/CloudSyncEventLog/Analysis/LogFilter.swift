public import CloudSyncCore

/// Which events of a log are wanted: those that meet every condition that is set.
///
/// Where a condition names several things, one of them is enough.
///
/// ```swift
/// var filter = LogFilter()
/// filter.kinds = ["retry", "split"]
/// filter.record = "note-17"
/// try log.forEachStep(matching: filter) { step in
///   print(step.line(start: log.header.time))
///   return true
/// }
/// ```
public struct LogFilter: Sendable, Hashable {
  /// The names of the events; empty for all.
  public var kinds: [String] = []
  /// Where the events come from; empty for all.
  public var origins: [EventRecord.Origin] = []
  /// The name of a record that the event is about.
  public var record: String?
  /// The zone of that record; by default any.
  public var zoneID: ZoneID?
  /// The operation that the event is about, by its name or by its number alone.
  public var operation: OperationSelection?
  /// The first time that is wanted.
  public var from: Timestamp?
  /// The last time that is wanted.
  public var to: Timestamp?
  /// The numbers of the events.
  public var sequences: ClosedRange<UInt64>?
  /// Codes of errors: of responses, and of single records in them.
  public var codes: [SyncError.Code] = []

  /// An operation, by its number, which no other one has, and its epoch where that is said.
  public struct OperationSelection: Sendable, Hashable {
    /// The session's epoch when it was submitted; nil for any.
    public var epoch: UInt64?
    /// Its number.
    public var number: UInt64

    /// Selects by number, and by epoch unless it is nil.
    public init(epoch: UInt64? = nil, number: UInt64) {
      self.epoch = epoch
      self.number = number
    }

    /// Selects an operation.
    public init(_ id: OperationID) { self.init(epoch: id.epoch, number: id.number) }

    func matches(id: OperationID) -> Bool {
      id.number == number && (epoch == nil || epoch == id.epoch)
    }
  }

  /// Creates a filter that wants everything.
  public init() {}

  /// Whether an event meets every condition, as far as the event itself tells.
  ///
  /// Which records and operations a request and its response are about is told only by the state: use
  /// ``EventLog/forEachStep(matching:_:)`` or a ``LogMatcher`` to have these too.
  public func matches(_ step: LogStep) -> Bool {
    matchesFrame(step: step) && matches(subjects: StepSubjects(step))
  }

  /// The conditions that need no look into the event.
  func matchesFrame(step: LogStep) -> Bool {
    if let sequences, !sequences.contains(step.sequence) { return false }
    if let from, step.record.time < from { return false }
    if let to, step.record.time > to { return false }
    if !origins.isEmpty, !origins.contains(step.record.origin) { return false }
    if !kinds.isEmpty {
      let names = [step.record.event.name, step.inputEvent?.name]
      guard kinds.contains(where: { names.contains($0) }) else { return false }
    }
    return codes.isEmpty || step.hasError { codes.contains($0.code) }
  }

  func matches(subjects: StepSubjects) -> Bool {
    if let record, !subjects.records.contains(where: { matches(recordID: $0, name: record) }) {
      return false
    }
    if let operation, !subjects.operations.contains(where: operation.matches),
      !subjects.sources.contains(operation.number)
    {
      return false
    }
    return true
  }

  private func matches(recordID: RecordID, name: String) -> Bool {
    UTF8Bytes.equal(recordID.name, name) && (zoneID == nil || zoneID == recordID.zoneID)
  }

  /// Whether the states have to be looked at.
  var needsStates: Bool { record != nil || operation != nil }
}

extension EventLog {
  /// Calls a function with every event that a filter wants, until it returns false.
  ///
  /// Requests and answers count as being about the records and operations that travel with them.
  ///
  /// - Throws: What the function throws, or that the log cannot be read any more.
  /// - Complexity: O(*n*) in the length of the log.
  public func forEachStep(
    matching filter: LogFilter,
    _ body: (LogStep) throws(LogError) -> Bool
  ) throws(LogError) {
    guard filter.needsStates else {
      try forEachStep(in: filter.sequences ?? 0...UInt64.max) { (step) throws(LogError) in
        filter.matchesFrame(step: step) ? try body(step) : true
      }
      return
    }
    var matcher = LogMatcher(filter, fold: LogFold(self))
    try forEachStep(in: 0...(filter.sequences?.upperBound ?? .max)) { (step) throws(LogError) in
      guard let step = matcher.match(step) else { return true }
      return try body(step)
    }
  }
}

/// The records and operations that an event is about.
struct StepSubjects {
  var records: [RecordID] = []
  var operations: [OperationID] = []
  /// The numbers of operations whose edits travel with a request.
  var sources: [UInt64] = []

  /// What the event itself tells.
  init(_ step: LogStep) {
    add(step.record.event)
    if let input = step.inputEvent { add(input, isInput: true) }
    for case .conflict(let recordID, _) in step.record.decisions { records.append(recordID) }
  }

  /// What the states tell too.
  init(_ step: LogFold.Step) {
    self.init(step.step)
    for entry in step.endedEntries + step.madeEntries {
      records.append(entry.recordID)
      sources += entry.sources
    }
    operations += (step.endedFetches + step.madeFetches).map(\.id)
    for note in step.notes { add(note) }
  }

  private mutating func add(_ note: SyncNotification) {
    switch note {
    case .modifyCompleted(let operation, _), .modifyFailed(let operation, _, _):
      operations.append(operation.id)
    case .fetchPage(let operation, _), .fetchFailed(let operation, _):
      operations.append(operation.id)
    case .parked(let change): records.append(change.recordID)
    }
  }

  private mutating func add(_ work: SyncWork) {
    switch work {
    case .modify(let operation):
      operations.append(operation.id)
      records += operation.records.map(\.recordID) + operation.recordIDsToDelete
    case .fetch(let operation): operations.append(operation.id)
    case .createZone, .createSubscription: break
    }
  }

  private mutating func add(_ event: SyncEvent, isInput: Bool = false) {
    switch event {
    case .doWork(let work) where !isInput, .workDropped(let work): add(work)
    case .cancel(let id): operations.append(id)
    case .retryParked(let ids), .dropParked(let ids): records += ids ?? []
    case .workSuccess(_, .modify(let response)):
      records += response.savedRecords.map(\.recordID) + response.deletedRecordIDs
      records += response.unsaved
    case .workSuccess(_, .fetch(let page)):
      records += page.changedRecords.map(\.recordID) + page.deletedRecordIDs
      records += page.failures.map(\.recordID)
    case .workFailure(_, let error): records += error.itemErrors.map(\.recordID)
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      records += settlement.verdicts.compactMap(\.record?.recordID)
    default: break
    }
  }
}

extension ItemVerdict {
  /// The record that the verdict has.
  fileprivate var record: Record? {
    switch self {
    case .saved(let record), .alreadyThere(let record), .resolved(let record, _),
      .recreate(let record):
      record
    default: nil
    }
  }
}

extension LogStep {
  /// Whether any error of the event is as wanted, errors of single records included.
  func hasError(where isWanted: (SyncError) -> Bool) -> Bool {
    if let halt, isWanted(halt) { return true }
    let events = [record.event, inputEvent].compactMap(\.self)
    return events.contains { $0.hasError(where: isWanted) }
  }
}

extension SyncEvent {
  fileprivate func hasError(where isWanted: (SyncError) -> Bool) -> Bool {
    if let mainError, mainError.anyError(where: isWanted) { return true }
    switch self {
    case .workSuccess(_, .modify(let response)):
      return response.failures.contains { $0.error.anyError(where: isWanted) }
    case .workSuccess(_, .fetch(let page)):
      return page.failures.contains { $0.error.anyError(where: isWanted) }
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      return settlement.error.map { $0.anyError(where: isWanted) } ?? false
        || settlement.verdicts.contains { $0.error.map { $0.anyError(where: isWanted) } ?? false }
    default: return false
    }
  }
}

extension SyncError {
  fileprivate func anyError(where isWanted: (SyncError) -> Bool) -> Bool {
    isWanted(self) || itemErrors.contains { isWanted($0.error) }
  }
}
