import CloudSyncCore

/// A re-run on its way through a log.
struct Rerun {
  private(set) var result: Replay.Result
  /// The number of the first event to run.
  let first: UInt64
  private let log: EventLog
  private let registry: MiddlewareRegistry
  private let options: Replay.Options
  private var session: CloudSyncSession
  private let comparison: StepComparison
  private var chain: [String]
  /// The state as the log has it, before the present group.
  private var folded: SyncState
  /// What came in, and all that followed, until something else comes in.
  private var group: [LogStep] = []
  /// Whether the group is the last one of a log that may end in the middle of it.
  private var isAtCut = false

  init(
    of log: EventLog,
    registry: MiddlewareRegistry,
    options: Replay.Options
  ) throws(LogError) {
    self.log = log
    self.registry = registry
    self.options = options
    comparison = StepComparison(isRedacted: !log.header.isRestorable)
    first = try Self.beginning(log: log, options: options)
    folded = try log.state(at: first - 1)
    chain = log.middleware(before: first)
    session = CloudSyncSession(rerunning: folded, chain: try registry.chain(names: chain))
    result = Replay.Result(state: folded)
    session.observeRerun(observer: comparison)
  }

  /// The first event from the wanted one on that came in from outside.
  private static func beginning(
    log: EventLog,
    options: Replay.Options
  ) throws(LogError) -> UInt64 {
    guard let wanted = options.first else { return log.header.state.eventCount + 1 }
    var first: UInt64?
    try log.forEachStep(in: wanted...UInt64.max) { (step) throws(LogError) in
      if step.input != nil { first = step.sequence }
      return first == nil
    }
    if let first { return first }
    throw LogError(
      .noSuchEvent,
      log: log.name,
      "no event from \(wanted) on came in from outside, so there is nothing to run again"
    )
  }

  /// Whether nothing more is to be found out.
  var isOver: Bool { !options.goesOn && !result.divergences.isEmpty }

  mutating func process(step: LogStep) throws(LogError) {
    if step.input != nil || !step.chains.isEmpty {
      try runGroup()
      if isOver { return }
    }
    for input in step.chains {
      guard case .middleware(let names) = input.content else { continue }
      try changeChain(to: names)
    }
    group.append(step)
  }

  mutating func finish() throws(LogError) {
    // A file that was full, or a crash, may have cut what followed from the last input.
    isAtCut = !log.hasEnded || log.isContinued
    if !isOver { try runGroup() }
    result.state = session.state
  }

  /// Lets a middleware join as it did in the log.
  private mutating func changeChain(to names: [String]) throws(LogError) {
    guard names.filter(chain.contains) == chain else {
      // Middleware only ever join: lines before this one are missing.
      session = CloudSyncSession(rerunning: session.state, chain: try registry.chain(names: names))
      session.observeRerun(observer: comparison)
      chain = names
      return
    }
    for (place, name) in names.enumerated() where !chain.contains(name) {
      let middleware = try registry.middleware(name: name)
      session.attachInRerun(middleware: middleware, after: place == 0 ? nil : names[place - 1])
    }
    chain = names
  }

  /// Runs what came in, and compares what follows from it with the log.
  private mutating func runGroup() throws(LogError) {
    guard let head = group.first else { return }
    defer { group.removeAll(keepingCapacity: true) }
    folded = session.state
    guard let event = head.inputEvent else { return try foldGroup() }
    if options.skipped.contains(head.sequence) {
      result.isWhatIf = true
      return
    }
    var decisions: [Decision] = []
    for step in group { decisions += step.record.decisions }
    comparison.expect(group)
    session.rerun(
      event: event,
      origin: head.record.origin,
      cause: head.record.cause,
      at: head.record.time,
      decisions: decisions
    )
    result.inputCount += 1
    result.eventCount += comparison.count
    if !result.isWhatIf { try compare() }
  }

  /// Takes over what follows from an input before the log's beginning, which is not there to be run.
  private mutating func foldGroup() throws(LogError) {
    for step in group { folded.reduce(step.record.event, at: step.record.time) }
    try beginAnew()
  }

  /// Goes on from the state that the log has.
  private mutating func beginAnew() throws(LogError) {
    session = CloudSyncSession(rerunning: folded, chain: try registry.chain(names: chain))
    session.observeRerun(observer: comparison)
  }

  private mutating func compare() throws(LogError) {
    guard let difference = comparison.difference else { return }
    if isAtCut {
      if difference.kind == .extra { return }
      if difference.kind == .effects, difference.place == group.count - 1 { return }
    }
    for (place, recorded) in group.enumerated() where place <= difference.place {
      folded.reduce(recorded.record.event, at: recorded.record.time)
    }
    if result.divergences.count < options.divergenceLimit {
      result.divergences.append(makeDivergence(difference: difference))
    }
    guard options.goesOn else { return }
    for recorded in group.dropFirst(difference.place + 1) {
      folded.reduce(recorded.record.event, at: recorded.record.time)
    }
    try beginAnew()
  }

  private func makeDivergence(difference: StepComparison.Difference) -> Replay.Divergence {
    let (recorded, rerun) = (group.dropFirst(difference.place).first, difference.rerun)
    var change: StateDifference.Change?
    if let rerun {
      change = StateDifference.first(
        before: folded,
        after: rerun.state,
        isRedacted: comparison.isRedacted
      )
    }
    return Replay.Divergence(
      kind: difference.kind,
      sequence: recorded?.sequence ?? rerun?.record.sequence ?? 0,
      line: recorded?.line ?? 0,
      recorded: recorded.map { Self.text(of: $0.record, effects: $0.effects) } ?? "nothing",
      rerun: rerun.map { Self.text(of: $0.record, effects: $0.effects.records(in: $0.state)) }
        ?? "nothing",
      state: change
    )
  }

  private static func text(of record: EventRecord, effects: [EffectRecord]) -> String {
    let cause = record.cause.map { " after #\($0)" } ?? ""
    let description = EventDescription(showsNames: true)
    // Times to the nanosecond, for two lines that differ in nothing else.
    let texts = effects.map { effect in
      if case .wake(let time) = effect { return "wake at \(time)" }
      return description.text(of: effect, at: record.time)
    }
    let done = texts.isEmpty ? "" : "; then \(texts.joined(separator: ", "))"
    let length = (record.event.wait?.nanoseconds).map { " (\($0) ns)" } ?? ""
    let event = description.line(of: record.event) + length
    return "#\(record.sequence) \(record.origin)\(cause): \(event)\(done)"
  }
}
