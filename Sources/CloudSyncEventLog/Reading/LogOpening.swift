import CloudSyncCore

/// One file of a log.
struct LogPart: Sendable {
  var source: LogSource
  /// Where the last whole line ends.
  var end: Int
}

/// A state that is kept, after so many of the log's events.
struct Keyframe: Sendable {
  var count: Int
  var state: SyncState
}

/// A log on its way to being opened: its files are read once, one after the other, and folded.
struct LogOpening {
  let header: LogHeader
  let hasHeader: Bool
  private(set) var state: SyncState
  private(set) var warnings: [LogWarning] = []
  private(set) var hasEnded = false
  private(set) var isContinued = false
  private(set) var mismatch: LogDigest?
  private(set) var alteration: LogDigest?
  private(set) var parts: [LogPart] = []
  private(set) var index: [IndexEntry] = []
  private(set) var chains: [(first: UInt64, names: [String])] = []
  private(set) var keyframes: [Keyframe]
  private(set) var halts: [UInt64: SyncError] = [:]

  private var readers: [LogReader]
  private let sources: [LogSource]
  private var isWhole: Bool
  /// The digest of the file that was read last.
  private var digest: UInt64 = 0

  init(_ sources: [LogSource], salvaging: Bool) throws(LogError) {
    var readers: [(reader: LogReader, source: LogSource)] = []
    for source in sources {
      readers.append((try LogReader(source, salvaging: salvaging), source))
    }
    // The numbers of parts say their order, whatever the files are called now.
    readers.sort { $0.reader.header.part < $1.reader.header.part }
    guard let first = readers.first?.reader else {
      throw LogError(.empty, log: "log", "no file was given")
    }
    self.readers = readers.map(\.reader)
    self.sources = readers.map(\.source)
    header = first.header
    hasHeader = !first.isHeaderMissing
    isWhole = hasHeader
    state = first.header.state
    keyframes = [Keyframe(count: 0, state: first.header.state)]
  }

  mutating func read(progress: ((Int) -> Void)?) throws(LogError) {
    for place in readers.indices {
      if place > 0 { try check(readers[place], follows: place - 1) }
      try read(part: place, progress: progress)
    }
    readers = []
  }

  /// A part has to begin where the one before it ended, with all its bytes.
  private func check(_ reader: LogReader, follows place: Int) throws(LogError) {
    let (name, before) = (sources[place + 1].name, sources[place].name)
    let (part, last) = (reader.header.part, readers[place].header.part)
    guard part == last + 1 else {
      throw LogError(
        .parts,
        log: name,
        part == last
          ? "it is part \(part), and so is \(before)"
          : "it is part \(part), and \(before) is part \(last): give the parts between them too"
      )
    }
    guard reader.header.previous?.digest == digest, reader.header.state.eventCount == lastSequence
    else {
      throw LogError(
        .parts,
        log: name,
        "it does not go on from \(before): they are of different recordings, or one was changed"
      )
    }
  }

  /// The number of the last event that was read.
  private var lastSequence: UInt64 { index.last?.sequence ?? header.state.eventCount }

  private mutating func read(part: Int, progress: ((Int) -> Void)?) throws(LogError) {
    var reader = readers[part]
    if part > 0 {
      noteChain(of: reader.header.middleware, before: reader.header.state.eventCount + 1)
    }
    while let step = try reader.next() {
      index.append(
        IndexEntry(part: part, sequence: step.sequence, offset: reader.stepOffset, line: step.line)
      )
      for input in step.chains {
        if case .middleware(let names) = input.content {
          noteChain(of: names, before: step.sequence)
        }
      }
      isWhole = isWhole && step.sequence == state.eventCount + 1
      if isWhole { fold(step) }
      if index.count % 8_192 == 0 { progress?(index.count) }
    }
    warnings += reader.warnings
    hasEnded = reader.hasEnded
    isContinued = reader.isContinued
    alteration = alteration ?? reader.alteration
    digest = reader.lineDigest.value
    parts.append(LogPart(source: sources[part], end: reader.endOffset))
  }

  private mutating func noteChain(of names: [String], before sequence: UInt64) {
    if chains.last?.names ?? header.middleware != names { chains.append((sequence, names)) }
  }

  private mutating func fold(_ step: LogStep) {
    let wasHalted = state.isHalted
    state.reduce(step.record.event, at: step.record.time)
    if !wasHalted, state.isHalted, let reason = state.haltReason {
      halts[step.sequence] = reason.error
    }
    if let digest = step.digest, mismatch == nil, LogDigest.of(state) != digest.digest {
      mismatch = digest
    }
    if index.count % EventLog.keyframeDistance == 0 {
      keyframes.append(Keyframe(count: index.count, state: state))
    }
  }
}
