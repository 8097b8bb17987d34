import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Folds a log once and writes what the page needs, chunk by chunk.
struct ReportComposer {
  private let log: EventLog
  private let title: String
  private let words: EventDescription
  private var state: SyncState
  private var summary: StateSummary
  private var chunk: ReportChunk
  private var tables = ReportTables()
  private var count = 0
  /// The key of the parked names that were put into words last, and the words.
  private var parkedKey = (count: 0, next: UInt64(0))
  private var parkedNames = ""

  /// How many events a chunk has.
  private static let chunkSize = 1_000
  /// A page has at most about so many whole states.
  private static let mostKeyframes = 100
  /// A larger state is left out: the tool can show it.
  private static let largestKeyframe = 64 << 10
  /// Parked records that are named one by one.
  private static let mostParkedNames = 12

  init(_ log: EventLog, title: String) {
    self.log = log
    self.title = title
    words = EventDescription(showsNames: true, showsMessages: log.header.redaction == .none)
    state = log.header.state
    let time = log.header.time
    let source = StateSummary.Source(state, at: time, parkedNames: "")
    summary = StateSummary(source)
    chunk = ReportChunk(before: summary, since: time)
  }

  /// Writes everything that the page's script reads.
  mutating func compose(
    progress: ((Int) -> Void)?,
    to sink: (Data) throws(LogError) -> Void
  ) throws(LogError) {
    parkedNames = Self.names(of: state.parked)
    summary = StateSummary(source(at: log.header.time))
    chunk = ReportChunk(before: summary, since: log.header.time)
    let keyframeDistance = max(1, log.count / Self.mostKeyframes)
    try writeKeyframe(to: sink)
    // The closure cannot change what is being iterated over, so it works on a copy.
    var composer = self
    try log.forEachStep { (step) throws(LogError) in
      composer.add(step)
      if composer.count % Self.chunkSize == 0 {
        try composer.flush(to: sink)
        progress?(composer.count)
      }
      if composer.count % keyframeDistance == 0 { try composer.writeKeyframe(to: sink) }
      return true
    }
    self = composer
    try flush(to: sink)
    progress?(count)
    try sink(ReportBlock.names(tables.recordNames))
    try sink(ReportBlock.about(log: log, title: title, tables: tables, chunkSize: Self.chunkSize))
  }

  private mutating func flush(to sink: (Data) throws(LogError) -> Void) throws(LogError) {
    guard !chunk.isEmpty else { return }
    try sink(chunk.blocks())
    chunk = ReportChunk(before: summary, since: chunk.lastTime)
  }

  // MARK: Events

  private mutating func add(_ step: LogStep) {
    let before = state
    let isKnown = isFolded(state: before, step: step)
    if isKnown {
      state.reduce(step.record.event, at: step.record.time)
      tellParked()
    }
    let event = step.record.event
    let flight =
      switch event {
      case .startWork, .retryWork: isKnown ? state.flight : nil
      default: isKnown ? before.flight : nil
      }
    let request: EventDescription.Request = isKnown ? .known(flight) : .unknown
    var row = ReportRow(step)
    row.kind = tables.kind(of: event)
    row.marks = EventMarks(step)
    row.mode = event.mode(in: flight)
    row.text = words.text(of: event, request: request)
    if let halt = step.silentHalt { row.text += "; stops the session: \(words.text(of: halt))" }
    row.text = ReportText.cut(row.text)
    row.input = inputKind(of: step)
    let pending = isKnown ? state.notifications : nil
    row.effects = ReportText.cut(
      step.effects.map { words.text(of: $0, at: step.record.time, pending: pending) }
        .joined(separator: ", ")
    )
    let touches = RecordTouches(
      event,
      before: isKnown ? before : nil,
      after: isKnown ? state : nil
    )
    row.touches = tables.touches(touches: touches, in: log.header.state.zoneID)
    if isKnown {
      let source = source(at: step.record.time)
      row.depths = ReportRow.Depths(source)
      let next = StateSummary(source)
      row.changes = zip(summary.values, next.values).enumerated()
        .compactMap {
          $1.0 == $1.1 ? nil : ($0, $1.1)
        }
      summary = next
    }
    tables.count(marks: row.marks)
    chunk.add(row)
    count += 1
  }

  private func isFolded(state: SyncState, step: LogStep) -> Bool {
    step.sequence == state.eventCount &+ 1 && step.sequence <= log.lastFoldedSequence
  }

  /// What came in, where a middleware made something else of it.
  private mutating func inputKind(of step: LogStep) -> Int? {
    guard case .event(let event)? = step.input?.content else { return nil }
    return tables.kind(of: event)
  }

  private func source(at time: Timestamp) -> StateSummary.Source {
    StateSummary.Source(state, at: time, parkedNames: parkedNames)
  }

  /// Puts the names of parked records into words again when they have changed.
  private mutating func tellParked() {
    let key = (state.parked.entries.count, state.parked.next)
    guard key != parkedKey else { return }
    parkedKey = key
    parkedNames = Self.names(of: state.parked)
  }

  private static func names(of parked: ParkedRegion) -> String {
    if parked.entries.isEmpty { return "" }
    let entries = parked.inOrder
    let names = entries.prefix(mostParkedNames)
      .map {
        "\($0.entry.recordID.name) (\($0.error.code))"
      }
    let rest = entries.count - names.count
    return ReportText.cut(names.joined(separator: ", ")) + (rest > 0 ? " and \(rest) more" : "")
  }

  // MARK: Whole states

  private func writeKeyframe(to sink: (Data) throws(LogError) -> Void) throws(LogError) {
    guard count == 0 || state.eventCount <= log.lastFoldedSequence else { return }
    let items =
      state.modify.queuedItems + state.modify.batch.count + state.parked.entries.count
      + state.notifications.queue.count
    // Rather than find out how large a very large state is.
    guard items < 1_000 else { return }
    var writer = LineWriter()
    state.write(to: &writer)
    guard writer.bytes.count <= Self.largestKeyframe else { return }
    try sink(ReportBlock.script(kind: "keyframe", number: count, json: writer.bytes))
  }
}
