import CloudSyncCore

/// What differs between two logs: where they part, and how often which event is in either.
///
/// Events are compared by their numbers, from the first to the last one that both logs could have:
/// what a ring had forgotten already is not a difference, but what one log has after the other's end
/// is. If one of the logs hides values, only what is left is compared.
public struct LogDifference: Sendable, Hashable, Codable {
  /// The first event that differs.
  public struct Divergence: Sendable, Hashable, Codable {
    /// The number of the event.
    public let sequence: UInt64
    /// The event of the first log in one line; nil if it has none of that number.
    public let first: String?
    /// The event of the second log in one line; nil if it has none of that number.
    public let second: String?
    /// What of it differs: `event`, `time`, `origin`, `cause`, `decisions`, `input`, `effects`,
    /// `middleware`.
    public let aspects: [String]
    /// The first differing place of the events, if these differ.
    public let change: StateDifference.Change?
  }

  /// How often a kind of event is in both logs.
  public struct Count: Sendable, Hashable, Codable {
    /// The name of the event.
    public let kind: String
    /// How often it is in the first log.
    public let first: Int
    /// How often it is in the second log.
    public let second: Int
  }

  /// Where the logs part; nil if they do not.
  public let divergence: Divergence?
  /// What differs in the headers, `state` paths included; only the first place of the states.
  public let headers: [StateDifference.Change]
  /// How many events were compared and are the same.
  public let sameCount: Int
  /// The kinds of event in either log, in the order in which the format lists them.
  public let counts: [Count]

  /// Whether nothing differs but where the logs begin.
  public var isSame: Bool { divergence == nil && headers.isEmpty }

  /// Compares two logs.
  ///
  /// - Throws: An error if one of them cannot be read.
  public init(_ first: EventLog, _ second: EventLog) throws(LogError) {
    let isRedacted = first.header.redaction != .none || second.header.redaction != .none
    headers = Self.differences(first: first.header, second: second.header, isRedacted: isRedacted)
    counts = try Self.counts(first: first, second: second)
    var same = 0
    var divergence: Divergence?
    let begin = max(first.firstSequence ?? 1, second.firstSequence ?? 1)
    let end = max(first.lastSequence ?? 0, second.lastSequence ?? 0)
    var next = begin
    while next <= end, divergence == nil {
      let last = min(end, next + 999)
      let steps = (
        try Self.steps(log: first, numbers: next...last),
        try Self.steps(log: second, numbers: next...last)
      )
      var places = (0, 0)
      for sequence in next...last where divergence == nil {
        let one = Self.nextStep(sequence: sequence, in: steps.0, after: &places.0)
        let other = Self.nextStep(sequence: sequence, in: steps.1, after: &places.1)
        if one == nil, other == nil { continue }
        divergence = Self.divergence(
          one: one,
          other: other,
          first: first,
          second: second,
          isRedacted: isRedacted
        )
        if divergence == nil { same += 1 }
      }
      next = last + 1
    }
    self.divergence = divergence
    sameCount = same
  }

  private static func steps(
    log: EventLog,
    numbers: ClosedRange<UInt64>
  ) throws(LogError) -> [LogStep] {
    var steps: [LogStep] = []
    try log.forEachStep(in: numbers) { step in
      steps.append(step)
      return true
    }
    return steps
  }

  private static func nextStep(
    sequence: UInt64,
    in steps: [LogStep],
    after place: inout Int
  ) -> LogStep? {
    guard place < steps.count, steps[place].sequence == sequence else { return nil }
    defer { place += 1 }
    return steps[place]
  }

  private static func divergence(
    one: LogStep?,
    other: LogStep?,
    first: EventLog,
    second: EventLog,
    isRedacted: Bool
  ) -> Divergence? {
    var aspects: [String] = []
    var change: StateDifference.Change?
    if let one, let other {
      aspects = Self.aspects(one: one, other: other, isRedacted: isRedacted)
      if aspects.isEmpty { return nil }
      change =
        TreeDifference(
          CodedTree.of(one.record.event, isSkeleton: isRedacted),
          CodedTree.of(other.record.event, isSkeleton: isRedacted),
          limit: 1
        )
        .changes.first
    }
    return Divergence(
      sequence: one?.sequence ?? other?.sequence ?? 0,
      first: one?.line(start: first.header.time),
      second: other?.line(start: second.header.time),
      aspects: aspects,
      change: change
    )
  }

  /// What differs between two events of the same number.
  private static func aspects(one: LogStep, other: LogStep, isRedacted: Bool) -> [String] {
    func isSame(_ first: some CodedValue, as second: some CodedValue) -> Bool {
      isRedacted
        ? SkeletonDigest.of(first) == SkeletonDigest.of(second)
        : first.codedBytes == second.codedBytes
    }
    func isSame<T: CodedValue>(_ first: [T], as second: [T]) -> Bool {
      first.count == second.count && zip(first, second).allSatisfy { isSame($0, as: $1) }
    }
    var aspects: [String] = []
    let (record, another) = (one.record, other.record)
    if !isSame(record.event, as: another.event) { aspects.append("event") }
    if record.time != another.time { aspects.append("time") }
    if record.origin != another.origin { aspects.append("origin") }
    if record.cause != another.cause { aspects.append("cause") }
    if !isSame(record.decisions, as: another.decisions) { aspects.append("decisions") }
    switch (one.inputEvent, other.inputEvent) {
    case (let input?, let another?): if !isSame(input, as: another) { aspects.append("input") }
    case (nil, nil): break
    default: aspects.append("input")
    }
    if !isSame(one.effects, as: other.effects) { aspects.append("effects") }
    if !UTF8Bytes.equal(one.chainText, other.chainText) { aspects.append("middleware") }
    return aspects
  }

  private static func differences(
    first: LogHeader,
    second: LogHeader,
    isRedacted: Bool
  ) -> [StateDifference.Change] {
    var changes: [StateDifference.Change] = []
    func compare(path: String, before: String, after: String) {
      guard before != after else { return }
      changes.append(StateDifference.Change(path: path, before: before, after: after))
    }
    compare(
      path: "reducerVersion",
      before: "\(first.reducerVersion)",
      after: "\(second.reducerVersion)"
    )
    compare(path: "redaction", before: "\(first.redaction)", after: "\(second.redaction)")
    compare(
      path: "middleware",
      before: Phrase.readable(first.middleware.joined(separator: " "), limit: 400),
      after: Phrase.readable(second.middleware.joined(separator: " "), limit: 400)
    )
    // Logs that begin at different events begin with different states.
    guard first.state.eventCount == second.state.eventCount else { return changes }
    if var change = StateDifference.first(
      before: first.state,
      after: second.state,
      isRedacted: isRedacted
    ) {
      change.path = "state.\(change.path)"
      changes.append(change)
    }
    return changes
  }

  private static func counts(first: EventLog, second: EventLog) throws(LogError) -> [Count] {
    // Looked up by name, never gone through.
    var tallies: [[String: Int]] = [[:], [:]]
    for (place, log) in [first, second].enumerated() {
      try log.forEachStep { step in
        tallies[place][step.record.event.name, default: 0] += 1
        return true
      }
    }
    return SyncEvent.names.compactMap { name in
      let kind = "\(name)"
      let (before, after) = (tallies[0][kind] ?? 0, tallies[1][kind] ?? 0)
      return before + after > 0 ? Count(kind: kind, first: before, second: after) : nil
    }
  }

  /// Where the logs part and the counts that differ, line by line.
  public func render() -> String {
    var lines = headers.map { "header: \($0)" }
    if let divergence {
      lines.append("the logs part at event \(divergence.sequence), after \(sameCount) that agree")
      if !divergence.aspects.isEmpty {
        lines.append("  what differs: \(divergence.aspects.joined(separator: ", "))")
      }
      lines.append("  first:  \(divergence.first ?? "has no such event")")
      lines.append("  second: \(divergence.second ?? "has no such event")")
      if let change = divergence.change { lines.append("  \(change)") }
    } else {
      lines.append("no event differs; \(sameCount) were compared")
    }
    for count in counts where count.first != count.second {
      lines.append("  \(count.kind): \(count.first) and \(count.second)")
    }
    return lines.joined(separator: "\n")
  }
}

extension LogStep {
  /// The chains of middleware that came into force before it, as one text.
  fileprivate var chainText: String {
    chains.map { input in
      guard case .middleware(let names) = input.content else { return "" }
      return names.joined(separator: " ")
    }
    .joined(separator: "\n")
  }
}
