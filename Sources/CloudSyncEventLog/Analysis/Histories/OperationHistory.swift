public import CloudSyncCore

/// What happened to one operation, in order: from its submission to the announcement of its end.
///
/// ```swift
/// print(try OperationHistory(of: OperationID(epoch: 1, number: 7), in: log).render())
/// ```
public struct OperationHistory: Sendable, Hashable, Codable {
  /// The operation.
  public let operationID: OperationID
  /// Whether it saves and deletes, or fetches.
  public let mode: OperationMode
  /// When the log begins: offsets count from here.
  public let start: Timestamp
  /// What happened, in order.
  public let entries: [HistoryEntry]

  /// Looks for an operation by its name.
  ///
  /// - Throws: An error if the log does not have it, or cannot be read.
  /// - Complexity: O(*n*) in the length of the log.
  public init(of operationID: OperationID, in log: EventLog) throws(LogError) {
    var reader = OperationHistoryReader(operationID, log.header)
    try log.forEachFoldedStep { step, state in
      reader.process(step: step, state: state)
      return true
    }
    guard let mode = reader.mode else {
      throw LogError(
        .notFound,
        log: log.name,
        "there is no operation \(operationID); operations are named epoch.number, as in 1.7"
      )
    }
    self.operationID = operationID
    self.mode = mode
    start = log.header.time
    entries = reader.entries
  }

  /// One line for each entry, the operation's name above them.
  public func render() -> String {
    (["Operation \(operationID) (\(mode))"] + entries.map { "  " + $0.line(start: start) })
      .joined(separator: "\n")
  }
}

/// Finds what happens to an operation while it walks over a log.
struct OperationHistoryReader {
  let id: OperationID
  private(set) var entries: [HistoryEntry] = []
  private(set) var mode: OperationMode?
  /// How many records it saves and deletes.
  private var itemCount = 0
  /// The numbers of its announcements that are not made yet.
  private var notes: [UInt64] = []

  init(_ id: OperationID, _ header: LogHeader) {
    self.id = id
    let state = header.state
    let waiting = state.modify.open.map(\.operation) + Array(state.modify.queue)
    if let operation = waiting.first(where: { $0.id == id }) {
      found(mode: .modify, header: header)
      itemCount = operation.itemCount
    } else if state.fetchQueue.contains(where: { $0.id == id }) {
      found(mode: .fetch, header: header)
    }
    for (place, note) in state.notifications.queue.enumerated() where isAbout(note: note) {
      found(mode: mode ?? .modify, header: header)
      notes.append(state.notifications.first + UInt64(place))
    }
  }

  private mutating func found(mode: OperationMode, header: LogHeader) {
    guard self.mode == nil else { return }
    self.mode = mode
    let text = "it was there when the log began"
    let sequence = header.state.eventCount
    entries.append(HistoryEntry(.found, sequence: sequence, time: header.time, text: text))
  }

  private mutating func add(
    _ kind: HistoryEntry.Kind,
    at step: LogFold.Step,
    attempt: Attempt? = nil,
    error: SyncError.Code? = nil,
    text: String
  ) {
    entries.append(HistoryEntry(kind, at: step, attempt: attempt, error: error, text: text))
  }

  mutating func process(step: LogFold.Step, state: SyncState) {
    switch step.event {
    case .doWork(.modify(let operation)) where operation.id == id:
      mode = .modify
      itemCount = operation.itemCount
      let (saves, deletions) = (operation.records.count, operation.recordIDsToDelete.count)
      let text = "\(Phrase.count(saves, "save")) and \(Phrase.count(deletions, "deletion"))"
      add(.queued, at: step, text: "\(text) are submitted")
    case .doWork(.fetch(let operation)) where operation.id == id:
      mode = .fetch
      add(.queued, at: step, text: "a fetch is submitted")
    case .workDropped(.modify(let operation)) where operation.id == id:
      mode = .modify
      itemCount = operation.itemCount
      add(.cancelled, at: step, text: "a middleware drops it")
    case .workDropped(.fetch(let operation)) where operation.id == id:
      mode = .fetch
      add(.cancelled, at: step, text: "a middleware drops it")
    case .cancel(id): add(.cancelled, at: step, text: "the app gives it up")
    default: break
    }
    guard step.isKnown, mode != nil else { return }
    if let ended = step.ended { processEnd(of: ended, step: step) }
    if let made = step.made { processRequest(made: made, step: step, state: state) }
    processNotes(step: step)
  }

  // MARK: Requests

  private mutating func processRequest(made: Flight, step: LogFold.Step, state: SyncState) {
    if mode == .fetch {
      guard made.mode == .fetch, !made.isLookup,
        let run = state.fetch.run, run.operations.contains(where: { $0.id == id })
      else { return }
      let others = run.operations.count - 1
      let with =
        others > 0 ? ", together with \(Phrase.count(others, "other fetch request"))" : ""
      add(
        .sent,
        at: step,
        attempt: made.attempt,
        text: "request \(made.attempt) fetches page \(run.pages + 1)\(with)"
      )
      return
    }
    let own = step.madeEntries.filter { $0.sources.contains(id.number) }
    guard !own.isEmpty else { return }
    let shared = own.count { $0.sources.count > 1 }
    if shared > 0, case .startWork = step.event, !made.isLookup {
      let text = "edits of other operations travel with \(Phrase.count(shared, "record")) of it"
      add(.merged, at: step, attempt: made.attempt, text: text)
    }
    let what = "\(own.count) of its \(Phrase.count(itemCount, "record"))"
    if made.isLookup {
      add(
        .lookedUp,
        at: step,
        attempt: made.attempt,
        text: "request \(made.attempt) looks up \(what)"
      )
    } else if case .retryWork = step.event {
      let text = "request \(made.attempt) is the same request again, with \(what)"
      add(.repeated, at: step, attempt: made.attempt, text: text)
    } else {
      let text = "request \(made.attempt) takes \(what); it has \(made.count) in all"
      add(.sent, at: step, attempt: made.attempt, text: text)
    }
  }

  private mutating func processEnd(of ended: Flight, step: LogFold.Step) {
    let places = step.endedEntries.indices.filter {
      step.endedEntries[$0].sources.contains(id.number)
    }
    let isOwn = mode == .fetch ? step.endedFetches.contains { $0.id == id } : !places.isEmpty
    guard isOwn else { return }
    let attempt = ended.attempt
    guard step.isAnswer else {
      let text = "request \(attempt) ends without a response (\(step.event.name))"
      add(.responseLost, at: step, attempt: attempt, text: text)
      return
    }
    let code = step.event.mainError?.code
    let reason = code.map { " (\($0))" } ?? ""
    switch step.event {
    case .workSuccess(_, .fetch(let page)):
      let count = page.changedRecords.count + page.deletedRecords.count
      let text = "page \(step.page) has \(Phrase.count(count, "change"))"
      add(
        .fetched,
        at: step,
        attempt: attempt,
        text: text + (page.hasMore ? "; more to come" : "")
      )
    case .workSuccess:
      add(
        .saved,
        at: step,
        attempt: attempt,
        text: "request \(attempt) did \(places.count) of its records"
      )
    case .retry(_, let retry):
      let wait = retry.wait.nanoseconds.map { "; retries in \(Phrase.duration($0))" } ?? ""
      let what =
        retry.isLost ? "the response to request \(attempt) is lost" : "request \(attempt) failed"
      let kind: HistoryEntry.Kind = retry.isLost ? .responseLost : .retried
      add(kind, at: step, attempt: attempt, error: code, text: "\(what)\(reason)\(wait)")
    case .split:
      add(
        .split,
        at: step,
        attempt: attempt,
        error: code,
        text: "request \(attempt) is split\(reason)"
      )
    case .startOver:
      add(.retried, at: step, attempt: attempt, error: code, text: "the fetch starts over\(reason)")
    case .settleItems, .resolveConflict:
      processVerdicts(places: places, attempt: attempt, step: step)
    default:
      add(
        .refused,
        at: step,
        attempt: attempt,
        error: code,
        text: "request \(attempt) is rejected\(reason)"
      )
    }
  }

  /// What the verdicts mean for the operation's own records, as counts.
  private mutating func processVerdicts(
    places: [Int],
    attempt: Attempt,
    step: LogFold.Step
  ) {
    let verdicts = step.event.verdicts
    addConflicts(places: places, attempt: attempt, step: step)
    var counts: [(kind: HistoryEntry.Kind, names: [String], code: SyncError.Code?)] = []
    for place in places where place < verdicts.count {
      let (kind, code) = (verdicts[place].historyKind, verdicts[place].error?.code)
      let name = step.endedEntries[place].recordID.name
      if let found = counts.firstIndex(where: { $0.kind == kind && $0.code == code }) {
        counts[found].names.append(name)
      } else {
        counts.append((kind, [name], code))
      }
    }
    for (kind, names, code) in counts {
      let reason = code.map { " (\($0))" } ?? ""
      let text = "\(names.count) by request \(attempt)\(reason): \(Phrase.names(names))"
      add(kind, at: step, attempt: attempt, error: code, text: text)
    }
    guard counts.isEmpty else { return }
    let code = step.event.mainError?.code
    let reason = code.map { " (\($0))" } ?? ""
    add(
      .stayed,
      at: step,
      attempt: attempt,
      error: code,
      text: "request \(attempt) is rejected\(reason)"
    )
  }

  private mutating func addConflicts(places: [Int], attempt: Attempt, step: LogFold.Step) {
    let code = SyncError.Code.serverRecordChanged
    let failed = step.itemFailures.filter { $0.error.code == code }.map(\.recordID)
    let own = failed.filter { id in places.contains { step.endedEntries[$0].recordID == id } }
    guard !own.isEmpty else { return }
    let text = "\(own.count) by request \(attempt): \(Phrase.names(own.map(\.name)))"
    add(.conflict, at: step, attempt: attempt, error: code, text: text)
  }

  // MARK: Announcements

  private func isAbout(note: SyncNotification) -> Bool {
    switch note {
    case .modifyCompleted(let operation, _), .modifyFailed(let operation, _, _):
      operation.id == id
    case .fetchPage(let operation, _), .fetchFailed(let operation, _): operation.id == id
    case .parked: false
    }
  }

  private mutating func processNotes(step: LogFold.Step) {
    for (place, note) in step.notes.enumerated() where isAbout(note: note) {
      notes.append(step.firstNote + UInt64(place))
      switch note {
      case .modifyCompleted(_, let response):
        add(.completed, at: step, text: words(response: response))
      case .modifyFailed(_, let error, let response):
        add(
          .givenUp,
          at: step,
          error: error.code,
          text: "\(words(response: response)) (\(error.code))"
        )
      case .fetchPage(_, let page) where page.isLast:
        add(.completed, at: step, text: "the last page")
      case .fetchFailed(_, let error):
        add(.givenUp, at: step, error: error.code, text: "the fetch fails (\(error.code))")
      case .fetchPage, .parked: break
      }
    }
    guard !notes.isEmpty else { return }
    for case .announce(let first, let count) in step.step.effects {
      let made = notes.filter { $0 >= first && $0 - first < count }
      guard !made.isEmpty else { continue }
      notes.removeAll { made.contains($0) }
      add(.announced, at: step, text: "the app is told")
    }
  }

  private func words(response: ModifyOperation.Response) -> String {
    let (saved, deleted) = (response.savedRecords.count, response.deletedRecordIDs.count)
    let unsaved =
      response.unsaved.isEmpty ? "" : ": \(Phrase.names(response.unsaved.map(\.name)))"
    return "\(saved) saved, \(deleted) deleted, \(response.unsaved.count) not\(unsaved)"
  }
}

extension ItemVerdict {
  /// What happened to a record of which this is the verdict.
  fileprivate var historyKind: HistoryEntry.Kind {
    switch self {
    case .saved, .alreadyThere: .saved
    case .deleted: .deleted
    case .resolved, .recreate: .resolved
    case .lookUp: .conflict
    case .stay, .again: .stayed
    case .park, .parkForQuota: .parked
    }
  }
}
