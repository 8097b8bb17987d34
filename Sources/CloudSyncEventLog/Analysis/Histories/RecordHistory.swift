public import CloudSyncCore

/// What happened to one record, in order: from the first edit of it to the last thing heard of it.
///
/// ```swift
/// print(try RecordHistory(of: "note-17", in: log).render())
/// ```
public struct RecordHistory: Sendable, Hashable, Codable {
  /// The record.
  public let recordID: RecordID
  /// When the log begins: offsets count from here.
  public let start: Timestamp
  /// What happened, in order.
  public let entries: [HistoryEntry]

  /// Looks for a record by its name.
  ///
  /// - Parameters:
  ///   - name: The record's name.
  ///   - zoneID: Its zone; by default that of the session.
  ///   - log: The log.
  /// - Throws: An error if nothing is said about it, or the log cannot be read.
  /// - Complexity: O(*n*) in the length of the log.
  public init(
    of name: String,
    zoneID: ZoneID? = nil,
    in log: EventLog
  ) throws(LogError) {
    let recordID = RecordID(name: name, zoneID: zoneID ?? log.header.state.zoneID)
    var reader = RecordHistoryReader(recordID, log.header)
    try log.forEachFoldedStep { step, state in
      reader.process(step: step, state: state)
      return true
    }
    guard !reader.entries.isEmpty else {
      throw LogError(
        .notFound,
        log: log.name,
        "nothing happens to a record “\(Phrase.readable(name))”; "
          + "names are told apart by upper and lower case"
      )
    }
    self.recordID = recordID
    start = log.header.time
    entries = reader.entries
  }

  /// One line for each entry, the record's name above them.
  public func render() -> String {
    (["Record \(Phrase.readable("\(recordID)"))"] + entries.map { "  " + $0.line(start: start) })
      .joined(separator: "\n")
  }
}

/// Finds what happens to a record while it walks over a log.
struct RecordHistoryReader {
  let recordID: RecordID
  private(set) var entries: [HistoryEntry] = []
  /// The record's entry after the event before, if it had one.
  private var entry: PendingChange?
  private var parked: ParkedEntry?

  init(_ recordID: RecordID, _ header: LogHeader) {
    self.recordID = recordID
    lookAtBeginning(header: header)
    update(state: header.state)
  }

  private mutating func lookAtBeginning(header: LogHeader) {
    let state = header.state
    func find(text: String) -> HistoryEntry {
      HistoryEntry(.found, sequence: state.eventCount, time: header.time, text: text)
    }
    for (place, operation) in state.modify.queue.enumerated() {
      // What requests have taken of the first one is on its way.
      let taken = place == 0 ? state.modify.cursor : 0
      guard let what = edit(in: operation, from: taken) else { continue }
      entries.append(find(text: "\(what) by operation \(operation.id) was waiting"))
    }
    if let waiting = state.modify.batch.first(where: { $0.recordID == recordID }) {
      entries.append(find(text: "\(word(for: waiting)) was in flight"))
    }
    if let parked = state.parked.entries[recordID] {
      entries.append(find(text: "\(word(for: parked.entry)) was parked (\(parked.error.code))"))
    }
  }

  mutating func add(
    _ kind: HistoryEntry.Kind,
    at step: LogFold.Step,
    attempt: Attempt? = nil,
    error: SyncError.Code? = nil,
    text: String
  ) {
    entries.append(HistoryEntry(kind, at: step, attempt: attempt, error: error, text: text))
  }

  /// Remembers what the state has of the record.
  private mutating func update(state: SyncState) {
    entry =
      state.modify.batch.first { $0.recordID == recordID }
      ?? (state.parked.returning.isEmpty
        ? nil : state.parked.returning.first { $0.recordID == recordID })
    parked = state.parked.entries.isEmpty ? nil : state.parked.entries[recordID]
  }

  mutating func process(step: LogFold.Step, state: SyncState) {
    if case .doWork(.modify(let operation)) = step.event, let what = edit(in: operation) {
      add(.queued, at: step, text: "\(what) is submitted by operation \(operation.id)")
    }
    processPage(step: step)
    guard step.isKnown else { return }
    if let ended = step.ended { processEnd(of: ended, step: step) }
    if changesEntries(step: step) { processChanges(step: step, state: state) }
    if let made = step.made { processRequest(made: made, step: step) }
    for note in step.notes { process(note: note, step: step) }
  }

  /// Whether an event may have moved entries of the batch or parked ones.
  private func changesEntries(step: LogFold.Step) -> Bool {
    switch step.event {
    case .doWork, .delivered, .noop, .acknowledge, .start, .halt: false
    default: true
    }
  }

  // MARK: The way of an edit

  /// What became of the entry besides what a response says: merged, taken back, set aside.
  private mutating func processChanges(step: LogFold.Step, state: SyncState) {
    let (entryBefore, parkedBefore) = (entry, parked)
    update(state: state)
    if parkedBefore != nil, parked == nil, let entry {
      let merged =
        entry.sources.isEmpty ? "" : "; \(operations(numbers: entry.sources)) is merged with it"
      add(.returned, at: step, text: "it is sent again\(merged)")
    } else if let entry {
      let fresh = entry.sources.filter { entryBefore?.sources.contains($0) != true }
      if entryBefore != nil, !fresh.isEmpty {
        add(
          .merged,
          at: step,
          text: "\(operations(numbers: fresh)) is merged with the edit in flight"
        )
      } else if entryBefore == nil, fresh.count > 1 {
        add(.merged, at: step, text: "the edits of \(operations(numbers: fresh)) travel as one")
      }
    }
    if let parked, parkedBefore?.number != parked.number {
      let code = parked.error.code
      add(
        .parked,
        at: step,
        attempt: step.ended?.attempt,
        error: code,
        text: "it is parked (\(code))"
      )
    }
  }

  private mutating func processRequest(made: Flight, step: LogFold.Step) {
    guard let place = step.madeEntries.firstIndex(where: { $0.recordID == recordID }) else {
      return
    }
    if made.isLookup {
      add(.lookedUp, at: step, attempt: made.attempt, text: "the cloud's record is looked up")
      return
    }
    let sent = step.madeEntries[place]
    let among = "\(place + 1) of \(made.count)"
    let tag = sent.edit?.changeTag.map { ", change tag \(Phrase.readable($0))" } ?? ""
    let of = sent.sources.isEmpty ? "" : ", for \(operations(numbers: sent.sources))"
    if case .retryWork = step.event {
      let text = "the same request is sent again as \(made.attempt)"
      add(.repeated, at: step, attempt: made.attempt, text: "\(text) (item \(among))")
    } else {
      let text = "\(word(for: sent)) is sent in request \(made.attempt)"
      add(.sent, at: step, attempt: made.attempt, text: "\(text) (item \(among)\(tag)\(of))")
    }
  }

  /// An edit or a deletion in words, if the operation has one of the record.
  private func edit(in operation: ModifyOperation, from first: Int = 0) -> String? {
    let saves = operation.records.dropFirst(first)
    if let record = saves.first(where: { $0.recordID == recordID }) {
      return "a save of \(Phrase.count(record.fields.count, "field"))"
    }
    let deletions = operation.recordIDsToDelete.dropFirst(max(0, first - operation.records.count))
    return deletions.contains(recordID) ? "a deletion" : nil
  }

  private func word(for entry: PendingChange) -> String {
    entry.edit.map { "a save of \(Phrase.count($0.fields.count, "field"))" } ?? "a deletion"
  }

  private func operations(numbers: [UInt64]) -> String {
    let names = Phrase.firstFew(of: numbers, limit: 5) { "\($0)" }
    return "operation\(numbers.count == 1 ? "" : "s") \(names)"
  }

  // MARK: Pages and announcements

  private mutating func processPage(step: LogFold.Step) {
    guard case .workSuccess(let attempt, .fetch(let page)) = step.event,
      !step.isKnown || step.isAnswer && step.ended?.isLookup == false
    else { return }
    let name = step.isKnown ? "page \(step.page)" : "a page"
    if let record = page.changedRecords.first(where: { $0.recordID == recordID }) {
      let tag = record.changeTag.map { ", change tag \(Phrase.readable($0))" } ?? ""
      add(.fetched, at: step, attempt: attempt, text: "it comes with \(name)\(tag)")
    }
    if page.deletedRecords.contains(where: { $0.recordID == recordID }) {
      add(.fetchedDeletion, at: step, attempt: attempt, text: "\(name) says that it is deleted")
    }
    for failure in page.failures where failure.recordID == recordID {
      let code = failure.error.code
      add(
        .refused,
        at: step,
        attempt: attempt,
        error: code,
        text: "it failed in \(name) (\(code))"
      )
    }
  }

  private mutating func process(note: SyncNotification, step: LogFold.Step) {
    switch note {
    case .parked(.dropped(recordID, let error)):
      let kind: HistoryEntry.Kind = error.code == .droppedByApp ? .dropped : .givenUp
      add(kind, at: step, error: error.code, text: "it is given up (\(error.code))")
    case .modifyFailed(let operation, let error, let response):
      guard response.failures.contains(where: { $0.recordID == recordID }) else { return }
      let text = "operation \(operation.id) ends without it (\(error.code))"
      add(.givenUp, at: step, error: error.code, text: text)
    case .modifyCompleted(let operation, let response):
      guard edit(in: operation) != nil else { return }
      let isUnsaved = response.failures.contains { $0.recordID == recordID }
      let text =
        "operation \(operation.id) completes" + (isUnsaved ? "; it is among the unsaved" : "")
      add(.completed, at: step, text: text)
    default: break
    }
  }
}
