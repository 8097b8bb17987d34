public import CloudSyncCore

/// A log that has been opened: every event, and the state after every event, at hand.
///
/// Opening reads the log once, folds it, and keeps where each event is and a state every so many
/// events; states share what they have in common, so that this takes little memory.
///
/// ```swift
/// let log = try EventLog(path: "session.jsonl")
/// print(try log.state(at: 1_234).explain(at: log.header.time))
/// ```
public struct EventLog: Sendable {
  /// What the first line says.
  public let header: LogHeader
  /// What should be known about the log.
  public let warnings: [LogWarning]
  /// Whether the log says that recording ended as it should.
  public let hasEnded: Bool
  /// The first digest that the fold does not agree with, if there is one.
  public let mismatch: LogDigest?
  /// Up to which event states are known; less than the last one only in a salvaged log.
  public let lastFoldedSequence: UInt64

  private let hasHeader: Bool
  private let source: LogSource
  private let index: [IndexEntry]
  /// The chains of middleware that came into force, with the number of the first event they saw.
  private let chains: [(first: UInt64, names: [String])]
  private let keyframes: [Keyframe]
  /// Where the last event's lines end.
  private let end: Int

  /// A state that is kept, after so many of the log's events.
  private struct Keyframe: Sendable {
    var count: Int
    var state: SyncState
  }

  /// How many events lie between two states that are kept.
  private static let keyframeDistance = 1_000

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - salvaging: Whether damaged lines are left out, with a warning each, instead of being errors.
  ///   - progress: Is told now and then how many events have been read.
  /// - Throws: An error that names the line and what is wrong there.
  public init(
    path: String,
    salvaging: Bool = false,
    progress: ((Int) -> Void)? = nil
  ) throws(LogError) {
    try self.init(LogSource(path: path), salvaging: salvaging, progress: progress)
  }

  /// Takes the bytes of a log.
  public init(bytes: [UInt8], name: String = "log", salvaging: Bool = false) throws(LogError) {
    try self.init(LogSource(bytes, name: name), salvaging: salvaging, progress: nil)
  }

  private init(
    _ source: LogSource,
    salvaging: Bool,
    progress: ((Int) -> Void)?
  ) throws(LogError) {
    var reader = try LogReader(source, salvaging: salvaging)
    var index: [IndexEntry] = []
    var chains: [(first: UInt64, names: [String])] = []
    var state = reader.header.state
    var keyframes = [Keyframe(count: 0, state: state)]
    var mismatch: LogDigest?
    var isWhole = !reader.isHeaderMissing
    while let step = try reader.next() {
      index.append(IndexEntry(sequence: step.sequence, offset: reader.stepOffset, line: step.line))
      for input in step.chains {
        if case .middleware(let names) = input.content { chains.append((step.sequence, names)) }
      }
      isWhole = isWhole && step.sequence == state.eventCount + 1
      if isWhole {
        state.reduce(step.record.event, at: step.record.time)
        if let digest = step.digest, mismatch == nil, LogDigest.of(state) != digest.digest {
          mismatch = digest
        }
        if index.count % Self.keyframeDistance == 0 {
          keyframes.append(Keyframe(count: index.count, state: state))
        }
      }
      if index.count % 8_192 == 0 { progress?(index.count) }
    }
    header = reader.header
    hasHeader = !reader.isHeaderMissing
    warnings = reader.warnings
    hasEnded = reader.hasEnded
    lastFoldedSequence = state.eventCount
    self.mismatch = mismatch
    self.source = source
    self.index = index
    self.chains = chains
    self.keyframes = keyframes
    end = reader.endOffset
  }

  /// What errors call the log: its path.
  public var name: String { source.name }
  /// How many events there are.
  public var count: Int { index.count }
  /// How many bytes its whole lines have.
  public var byteCount: Int { end }
  /// The number of the first event; nil if there is none.
  public var firstSequence: UInt64? { index.first?.sequence }
  /// The number of the last event; nil if there is none.
  public var lastSequence: UInt64? { index.last?.sequence }

  /// The names of the middleware that were in force just before an event.
  public func middleware(before sequence: UInt64) -> [String] {
    chains.last { $0.first < sequence }?.names ?? header.middleware
  }

  /// The state after an event, or before the first one.
  ///
  /// - Complexity: O(1) in the length of the log: at most a thousand events are read.
  public func state(at sequence: UInt64) throws(LogError) -> SyncState {
    guard hasHeader else {
      throw LogError(
        .noState,
        log: name,
        line: 1,
        "there are no states, because the header with the first one is damaged"
      )
    }
    if sequence == header.state.eventCount { return header.state }
    let place = try place(of: sequence)
    guard sequence <= lastFoldedSequence else {
      throw LogError(
        .noState,
        log: name,
        line: index[place].line,
        "there is no state after event \(lastFoldedSequence), because lines are missing"
      )
    }
    let keyframe = keyframes[min((place + 1) / Self.keyframeDistance, keyframes.count - 1)]
    var state = keyframe.state
    guard keyframe.count <= place else { return state }
    try forEachStep(inPlaces: keyframe.count...place) { step in
      state.reduce(step.record.event, at: step.record.time)
      return true
    }
    return state
  }

  /// An event.
  public func step(_ sequence: UInt64) throws(LogError) -> LogStep {
    let place = try place(of: sequence)
    var found: LogStep?
    try forEachStep(inPlaces: place...place) { step in
      found = step
      return true
    }
    guard let found else { throw noSuchEvent(sequence: sequence) }
    return found
  }

  /// Calls a function with every event from one number to another, until it returns false.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of the events; those that the log does not have are left out.
  ///   - body: Takes an event, and returns whether to go on.
  /// - Throws: What the function throws, or that the log cannot be read any more.
  public func forEachStep(
    in numbers: ClosedRange<UInt64> = 0...UInt64.max,
    _ body: (LogStep) throws(LogError) -> Bool
  ) throws(LogError) {
    let first = firstPlace(from: numbers.lowerBound)
    let next =
      numbers.upperBound == .max ? index.count : firstPlace(from: numbers.upperBound + 1)
    guard first < next else { return }
    try forEachStep(inPlaces: first...next - 1, body: body)
  }

  private func forEachStep(
    inPlaces places: ClosedRange<Int>,
    body: (LogStep) throws(LogError) -> Bool
  ) throws(LogError) {
    let end = places.upperBound + 1 < index.count ? index[places.upperBound + 1].offset : end
    var reader = LogReader(source, header: header, at: index[places.lowerBound], to: end)
    var place = places.lowerBound
    while place <= places.upperBound, let step = try reader.next() {
      // What does not fit its neighbours was left out when the log was opened.
      guard step.sequence == index[place].sequence else { continue }
      place += 1
      guard try body(step) else { return }
    }
  }

  /// The place of the first event with at least this number.
  private func firstPlace(from sequence: UInt64) -> Int {
    var low = 0
    var high = index.count
    while low < high {
      let middle = (low + high) / 2
      if index[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func place(of sequence: UInt64) throws(LogError) -> Int {
    let place = firstPlace(from: sequence)
    guard place < index.count, index[place].sequence == sequence else {
      throw noSuchEvent(sequence: sequence)
    }
    return place
  }

  private func noSuchEvent(sequence: UInt64) -> LogError {
    let range =
      index.isEmpty
      ? "it has none" : "it has \(index[0].sequence) to \(index[index.count - 1].sequence)"
    return LogError(.noSuchEvent, log: name, "there is no event \(sequence); \(range)")
  }
}

/// Where an event is in a log.
struct IndexEntry: Sendable {
  var sequence: UInt64
  var offset: Int
  var line: Int
}
