import CloudSyncCore

/// Reads a log event by event, in memory that does not grow with the log.
///
/// ```swift
/// var reader = try LogReader(path: "session.jsonl")
/// while let step = try reader.next() { print(step.record.sequence, step.record.event.name) }
/// ```
public struct LogReader {
  /// What the first line says.
  public let header: LogHeader
  /// What should be known about the log, so far.
  public private(set) var warnings: [LogWarning] = []
  /// Whether the log says that recording ended here.
  public private(set) var hasEnded = false

  private var scanner: LineScanner
  private let isSalvaging: Bool
  /// Where the line that was read ahead is, and the line.
  private var ahead: (line: LineScanner.Line, content: LogLine)?
  private var lastSequence: UInt64
  private var lastLine = 1
  /// Where in the log the step begins that was returned last.
  private(set) var stepOffset = 0

  /// Opens a file.
  ///
  /// - Parameter salvaging: Whether damaged lines are left out, with a warning each, instead of being
  ///   errors.
  public init(path: String, salvaging: Bool = false) throws(LogError) {
    try self.init(LogSource(path: path), salvaging: salvaging)
  }

  /// Takes the bytes of a log.
  public init(bytes: [UInt8], name: String = "log", salvaging: Bool = false) throws(LogError) {
    try self.init(LogSource(bytes, name: name), salvaging: salvaging)
  }

  init(_ source: LogSource, salvaging: Bool) throws(LogError) {
    scanner = LineScanner(source)
    isSalvaging = salvaging
    guard let first = try scanner.nextLine() else {
      throw LogError(.empty, log: source.name, "it is empty; a log begins with a header")
    }
    do throws(LogError) {
      guard case .header(let header) = try scanner.decode(first) else {
        throw LogError(
          .missingHeader,
          log: source.name,
          line: 1,
          "the first line is not a header: the beginning of the log is missing"
        )
      }
      self.header = header
    } catch {
      guard salvaging else { throw error }
      // Without a header there are events, but no state to begin with.
      header = LogHeader(
        time: Timestamp(nanoseconds: 0),
        middleware: [],
        redaction: .custom,
        state: SyncState(zoneID: ZoneID(name: "unknown"))
      )
      isHeaderMissing = true
      warnings.append(LogWarning(kind: .salvaged, line: 1, reason: error.reason))
      scanner = LineScanner(source)
    }
    lastSequence = header.state.eventCount
  }

  /// Whether the header is damaged, so that nothing can be folded.
  private(set) var isHeaderMissing = false

  /// Reads a step of which it is known where it is.
  init(_ source: LogSource, header: LogHeader, at entry: IndexEntry, to end: Int) {
    self.header = header
    scanner = LineScanner(source, from: entry.offset, to: end, line: entry.line)
    isSalvaging = true
    lastSequence = entry.sequence - 1
  }

  /// Where in the log the last whole line ends.
  var endOffset: Int { scanner.offset }

  /// The next event; nil at the end.
  ///
  /// - Throws: An error that names the line; whatever was read before it is sound.
  public mutating func next() throws(LogError) -> LogStep? {
    var pending = PendingStep()
    while let (line, content) = try nextContent() {
      if pending.step != nil, content.beginsStep {
        ahead = (line, content)
        break
      }
      do throws(LogError) {
        try take(content, line, into: &pending)
      } catch {
        guard isSalvaging else { throw error }
        warnings.append(LogWarning(kind: .salvaged, line: line.number, reason: error.reason))
      }
    }
    if let step = pending.step {
      stepOffset = pending.offset
      return step
    }
    noteEnd()
    return nil
  }

  private mutating func noteEnd() {
    guard !hasEnded, !warnings.contains(where: { $0.kind == .noEnd }) else { return }
    let reason = "recording did not end here: the process ended, or goes on"
    warnings.append(LogWarning(kind: .noEnd, line: lastLine, reason: reason))
  }

  /// The next line that can be decoded.
  private mutating func nextContent() throws(LogError) -> (LineScanner.Line, LogLine)? {
    if let next = ahead {
      ahead = nil
      return (next.line, next.content)
    }
    while let line = try scanner.nextLine() {
      lastLine = line.number
      do throws(LogError) {
        return (line, try scanner.decode(line))
      } catch {
        if !line.isWhole {
          let reason = "the last line is torn, as a crash leaves it; it is left out"
          warnings.append(LogWarning(kind: .tornLine, line: line.number, reason: reason))
          return nil
        }
        guard isSalvaging else { throw error }
        warnings.append(LogWarning(kind: .salvaged, line: line.number, reason: error.reason))
      }
    }
    return nil
  }

  /// What has been read of a step.
  private struct PendingStep {
    var step: LogStep?
    var input: LogInput?
    var chains: [LogInput] = []
    var offset = 0
    var line = 0
    var isBegun: Bool { line > 0 }
  }

  private mutating func take(
    _ content: LogLine,
    _ line: LineScanner.Line,
    into pending: inout PendingStep
  ) throws(LogError) {
    func failure(_ reason: String) -> LogError {
      LogError(.order, log: scanner.source.name, line: line.number, reason)
    }
    if !pending.isBegun { (pending.offset, pending.line) = (line.offset, line.number) }
    if hasEnded { throw failure("the log goes on after its end") }
    switch content {
    case .header: throw failure("there is a second header; split the log before it")
    case .input(let input):
      if case .middleware = input.content {
        pending.chains.append(input)
      } else {
        guard pending.input == nil else { throw failure("an input has no event") }
        guard isNext(input.sequence) else { throw failure(orderReason(input.sequence)) }
        pending.input = input
      }
    case .event(let record):
      guard isNext(record.sequence) else { throw failure(orderReason(record.sequence)) }
      if let input = pending.input, input.sequence != record.sequence {
        throw failure("the input before it belongs to event \(input.sequence)")
      }
      lastSequence = record.sequence
      pending.step = LogStep(
        record: record,
        input: pending.input,
        chains: pending.chains,
        line: pending.line
      )
    case .effect(let effects):
      guard effects.sequence == pending.step?.sequence, pending.step?.effects.isEmpty == true else {
        throw failure("effects of event \(effects.sequence) stand in the wrong place")
      }
      pending.step?.effects = effects.effects
    case .digest(let digest):
      if digest.isEnd { hasEnded = true }
      // A log without events has a digest all the same.
      guard pending.step != nil || digest.sequence != lastSequence else { return }
      guard digest.sequence == pending.step?.sequence else {
        throw failure("a digest of event \(digest.sequence) stands in the wrong place")
      }
      pending.step?.digest = digest
    }
  }

  /// Whether an event may come next: in a log that is being salvaged, any later one.
  private func isNext(_ sequence: UInt64) -> Bool {
    isSalvaging ? sequence > lastSequence : sequence == lastSequence &+ 1
  }

  private func orderReason(_ sequence: UInt64) -> String {
    "event \(sequence) follows event \(lastSequence): lines are missing, doubled or out of order"
  }
}

extension LogLine {
  /// Whether a line belongs to the event after it.
  var beginsStep: Bool {
    switch self {
    case .header, .input, .event: true
    case .effect, .digest: false
    }
  }
}
