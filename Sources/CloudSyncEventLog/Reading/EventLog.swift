public import CloudSyncCore

/// A log that has been opened: every event, and the state after every event, at hand.
///
/// Opening reads the log once, folds it, and keeps where each event is and a state every so many
/// events; states share what they have in common, so that this takes little memory. The files of a
/// recording that was too long for one are opened as one log.
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
  /// Whether the log says that it goes on in a file that is not among those opened.
  public let isContinued: Bool
  /// The first digest that the fold does not agree with, if there is one.
  public let mismatch: LogDigest?
  /// The first digest before which the bytes are not those that were written, if there is one.
  public let alteration: LogDigest?
  /// Up to which event states are known; less than the last one only in a salvaged log.
  public let lastFoldedSequence: UInt64

  private let hasHeader: Bool
  private let parts: [LogPart]
  private let index: [IndexEntry]
  /// The chains of middleware that came into force, with the number of the first event they saw.
  private let chains: [(first: UInt64, names: [String])]
  private let keyframes: [Keyframe]
  /// The errors with which events stopped the session, by the event's number; only looked up.
  private let halts: [UInt64: SyncError]

  /// How many events lie between two states that are kept.
  static let keyframeDistance = 1_000

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
    try self.init(paths: [path], salvaging: salvaging, progress: progress)
  }

  /// Opens the files of a log that was recorded into several, in any order.
  ///
  /// - Parameters:
  ///   - paths: The files: parts of one recording, without one left out between them.
  ///   - salvaging: Whether damaged lines are left out, with a warning each, instead of being errors.
  ///   - progress: Is told now and then how many events have been read.
  /// - Throws: An error that names the line and what is wrong there; with the code
  ///   ``LogError/Code/parts`` if the files do not belong together.
  public init(
    paths: [String],
    salvaging: Bool = false,
    progress: ((Int) -> Void)? = nil
  ) throws(LogError) {
    var sources: [LogSource] = []
    for path in paths { sources.append(try LogSource(path: path)) }
    try self.init(sources, salvaging: salvaging, progress: progress)
  }

  /// Takes the bytes of a log.
  ///
  /// - Throws: An error that names the line and what is wrong there.
  public init(bytes: [UInt8], name: String = "log", salvaging: Bool = false) throws(LogError) {
    try self.init([LogSource(bytes, name: name)], salvaging: salvaging, progress: nil)
  }

  private init(
    _ sources: [LogSource],
    salvaging: Bool,
    progress: ((Int) -> Void)?
  ) throws(LogError) {
    var opening = try LogOpening(sources, salvaging: salvaging)
    try opening.read(progress: progress)
    header = opening.header
    hasHeader = opening.hasHeader
    warnings = opening.warnings
    hasEnded = opening.hasEnded
    isContinued = opening.isContinued
    lastFoldedSequence = opening.state.eventCount
    mismatch = opening.mismatch
    alteration = opening.alteration
    parts = opening.parts
    index = opening.index
    chains = opening.chains
    keyframes = opening.keyframes
    halts = opening.halts
  }

  /// What errors call the log: the path of its last file.
  public var name: String { parts[parts.count - 1].source.name }
  /// How many files it was opened from.
  public var partCount: Int { parts.count }
  /// How many events there are.
  public var count: Int { index.count }
  /// How many bytes its whole lines have.
  public var byteCount: Int { parts.reduce(0) { $0 + $1.end } }
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
  /// - Throws: That there is no such event, ``LogError/Code/noState`` where lines before it are missing, or that the log
  ///   cannot be read any more.
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
  ///
  /// - Throws: That there is no such event, or that the log cannot be read any more.
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
    var place = places.lowerBound
    while place <= places.upperBound {
      let first = index[place]
      let part = parts[first.part]
      let next = places.upperBound + 1 < index.count ? index[places.upperBound + 1] : nil
      let end = next.flatMap { $0.part == first.part ? $0.offset : nil } ?? part.end
      var reader = LogReader(part.source, header: header, at: first, to: end)
      while place <= places.upperBound, index[place].part == first.part,
        var step = try reader.next()
      {
        // What does not fit its neighbours was left out when the log was opened.
        guard step.sequence == index[place].sequence else { continue }
        place += 1
        if !halts.isEmpty { step.halt = halts[step.sequence] }
        guard try body(step) else { return }
      }
      // A file that has become shorter since.
      guard place > places.upperBound || index[place].part != first.part else { return }
    }
  }

  /// The place of the first event with at least this number.
  private func firstPlace(from sequence: UInt64) -> Int {
    index.indices.firstPlace { index[$0].sequence >= sequence }
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
  var part: Int
  var sequence: UInt64
  var offset: Int
  var line: Int
}
