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
  /// Whether the log says that it goes on in another file.
  public private(set) var isContinued = false
  /// The first digest before which the file's bytes are not those that were written.
  public private(set) var alteration: LogDigest?

  private var scanner: LineScanner
  private let isSalvaging: Bool
  private var salvagedCount = 0
  /// How many damaged lines are listed at most.
  private static let warningLimit = 1_000
  /// Where the line that was read ahead is, and the line.
  private var ahead: (line: LineScanner.Line, content: LogLine)?
  private var lastSequence: UInt64
  private var lastLine = 1
  /// Where in the log the step begins that was returned last.
  private(set) var stepOffset = 0
  /// Of all lines that have been read.
  private(set) var lineDigest = LineDigest()

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - salvaging: Whether damaged lines are left out, with a warning each, instead of being errors.
  /// - Throws: That the file cannot be opened, is empty, or does not begin with a header.
  public init(path: String, salvaging: Bool = false) throws(LogError) {
    try self.init(LogSource(path: path), salvaging: salvaging)
  }

  /// Takes the bytes of a log.
  ///
  /// - Throws: That there are none, or that they do not begin with a header.
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
      guard salvaging else {
        if scanner.isJSON(first) { throw error }
        throw LogError(
          .malformedLine,
          log: source.name,
          line: 1,
          "it is no event log: that begins with a line of JSON"
        )
      }
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
    if !isHeaderMissing { note(line: first) }
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
    let before = lastSequence
    while let (line, content) = try nextContent() {
      if let step = pending.step, content.beginsStep {
        ahead = (line, content)
        guard isMisnumbered(step: step, after: before, next: content) else { break }
        salvage(line: pending.line, reason: "event \(step.sequence) does not fit its neighbours")
        lastSequence = before
        pending = PendingStep()
        continue
      }
      do throws(LogError) {
        try process(content: content, line: line, into: &pending)
      } catch {
        guard isSalvaging else { throw error }
        salvage(line: line.number, reason: error.reason)
      }
    }
    if let step = pending.step {
      stepOffset = pending.offset
      return step
    }
    noteEnd()
    return nil
  }

  /// Whether an event of a damaged log has a number that the events around it contradict.
  private func isMisnumbered(step: LogStep, after before: UInt64, next: LogLine) -> Bool {
    guard isSalvaging, step.sequence > before + 1, let number = next.stepSequence else {
      return false
    }
    return number > before && number <= step.sequence
  }

  /// Notes what was left out: the first of it, for a log may be damaged throughout.
  private mutating func salvage(line: Int, reason: String) {
    guard salvagedCount <= Self.warningLimit else { return }
    salvagedCount += 1
    let isLast = salvagedCount > Self.warningLimit
    let text = isLast ? "from here on, what is left out is not listed" : reason
    warnings.append(LogWarning(kind: .salvaged, line: line, reason: text))
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
        let content = try scanner.decode(line)
        if case .digest(let digest) = content, alteration == nil, digest.bytes != lineDigest.value {
          alteration = digest
        }
        note(line: line)
        return (line, content)
      } catch {
        note(line: line)
        if !line.isWhole {
          let reason = "the last line is torn, as a crash leaves it; it is left out"
          warnings.append(LogWarning(kind: .tornLine, line: line.number, reason: reason))
          return nil
        }
        guard isSalvaging else { throw error }
        salvage(line: line.number, reason: error.reason)
      }
    }
    return nil
  }

  private mutating func note(line: LineScanner.Line) {
    scanner.buffer.withUnsafeBytes {
      lineDigest.add(line: UnsafeRawBufferPointer(rebasing: $0[line.range]))
    }
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

  private mutating func process(
    content: LogLine,
    line: LineScanner.Line,
    into pending: inout PendingStep
  ) throws(LogError) {
    func failure(_ reason: String) -> LogError {
      LogError(.order, log: scanner.source.name, line: line.number, reason)
    }
    if !pending.isBegun { (pending.offset, pending.line) = (line.offset, line.number) }
    if hasEnded {
      guard isSalvaging else { throw failure("the log goes on after its end") }
      // An end in the middle says nothing if sound events follow.
      hasEnded = false
      isContinued = false
    }
    switch content {
    case .header: throw failure("there is a second header; split the log before it")
    case .input(let input):
      if case .middleware = input.content {
        pending.chains.append(input)
      } else {
        guard isNext(sequence: input.sequence) else {
          throw failure(orderReason(sequence: input.sequence))
        }
        if pending.input != nil {
          guard isSalvaging else { throw failure("the input before it has no event") }
          salvage(line: line.number, reason: "the input before it has no event")
        }
        pending.input = input
      }
    case .event(let record):
      guard isNext(sequence: record.sequence) else {
        throw failure(orderReason(sequence: record.sequence))
      }
      if let input = pending.input, input.sequence != record.sequence {
        let reason = "the input before it belongs to event \(input.sequence)"
        guard isSalvaging else { throw failure(reason) }
        salvage(line: line.number, reason: reason)
        pending.input = nil
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
      // A log without events has a digest all the same.
      guard digest.sequence == pending.step?.sequence ?? lastSequence else {
        throw failure("a digest of event \(digest.sequence) stands in the wrong place")
      }
      guard pending.step?.digest?.digest ?? digest.digest == digest.digest else {
        throw failure("there are two digests of event \(digest.sequence)")
      }
      pending.step?.digest = digest
      hasEnded = digest.isEnd
      isContinued = digest.isContinued
    }
  }

  /// Whether an event may come next: in a log that is being salvaged, any later one.
  private func isNext(sequence: UInt64) -> Bool {
    isSalvaging ? sequence > lastSequence : sequence == lastSequence &+ 1
  }

  private func orderReason(sequence: UInt64) -> String {
    "event \(sequence) follows event \(lastSequence): lines are missing, doubled or out of order"
  }
}

extension LogLine {
  /// The number of the event that the line begins; nil if it begins none.
  var stepSequence: UInt64? {
    switch self {
    case .event(let record): record.sequence
    case .input(let input): if case .middleware = input.content { nil } else { input.sequence }
    case .header, .effect, .digest: nil
    }
  }

  /// Whether a line belongs to the event after it.
  var beginsStep: Bool {
    switch self {
    case .header, .input, .event: true
    case .effect, .digest: false
    }
  }
}
