public import CloudSyncCore

extension LogError.Code {
  /// A condition of a filter cannot be understood.
  public static let filter = LogError.Code(rawValue: "filter")
}

extension LogFilter {
  /// An option of a command line that sets a condition.
  public enum Option: String, Sendable, CaseIterable {
    /// Names of events, parted by commas; may be given again.
    case kind = "--kind"
    /// Origins of events, parted by commas; may be given again.
    case origin = "--origin"
    /// The name of a record.
    case record = "--record"
    /// An operation, as in `1.7`, or its number.
    case operation = "--operation"
    /// The first time.
    case from = "--from"
    /// The last time.
    case to = "--to"
    /// Numbers of events, as in `12`, `10-20`, `10-` or `-20`.
    case events = "--events"
    /// Codes of errors by name or number, parted by commas; may be given again.
    case code = "--code"

    /// What the option's value is and does, in one line.
    public var help: String {
      switch self {
      case .kind: "events of these names, as in retry,split"
      case .origin: "events from call, handler, timer, report or middleware"
      case .record: "events that are about the record of this name"
      case .operation: "events that are about this operation, as in 1.7 or 7"
      case .from:
        "events from a time on: 12:30:05, 2026-11-21T12:30:05Z (UTC), or +5s from the start"
      case .to: "events up to a time, likewise"
      case .events: "events by number, as in 12, 10-20, 10- or -20"
      case .code: "events with an error of these codes, as in networkFailure or 4"
      }
    }
  }

  /// Reads a filter from the options of a command line, each followed by its value.
  ///
  /// - Parameters:
  ///   - arguments: The options, as in `["--kind", "retry", "--from", "+5s"]`.
  ///   - start: When the log begins, for times that count from there.
  /// - Throws: An error of the code ``LogError/Code/filter`` that says what is known.
  public init(arguments: [String], start: Timestamp) throws(LogError) {
    self.init()
    var rest = arguments[...]
    while let name = rest.popFirst() {
      guard let option = Option(rawValue: name) else {
        let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
        throw Self.failure(
          "the filter",
          reason: "\(Self.quoted(name)) is no option; known are \(known)"
        )
      }
      guard let value = rest.popFirst() else {
        throw Self.failure(name, reason: "a value is missing: \(option.help)")
      }
      try set(option, to: value, start: start)
    }
  }

  /// Sets a condition from what somebody wrote.
  ///
  /// - Throws: An error of the code ``LogError/Code/filter`` that says what is known.
  public mutating func set(
    _ option: Option,
    to value: String,
    start: Timestamp
  ) throws(LogError) {
    switch option {
    case .kind: kinds += try Self.kinds(value: value)
    case .origin: origins += try Self.origins(value: value)
    case .record:
      guard !value.isEmpty else { throw Self.failure(option, reason: "the name is empty") }
      record = value
    case .operation: operation = try Self.operation(value: value)
    case .from: from = try Self.time(value: value, option: option, start: start)
    case .to: to = try Self.time(value: value, option: option, start: start)
    case .events: sequences = try Self.sequences(value: value)
    case .code: codes += try Self.codes(value: value)
    }
    if let from, let to, from > to {
      throw Self.failure(option, reason: "the first time is after the last one")
    }
  }

  private static func failure(_ option: Option, reason: String) -> LogError {
    failure(option.rawValue, reason: reason)
  }

  private static func failure(_ place: String, reason: String) -> LogError {
    LogError(.filter, log: place, reason)
  }

  private static func quoted(_ text: some StringProtocol) -> String {
    "“\(Phrase.readable(String(text), limit: 60))”"
  }

  private static func parts(value: String) -> [Substring] {
    value.split(separator: ",", omittingEmptySubsequences: false)
  }

  private static func kinds(value: String) throws(LogError) -> [String] {
    let known = SyncEvent.names.map { "\($0)" }
    var found: [String] = []
    for part in parts(value: value) {
      guard let name = known.first(where: { $0.lowercased() == part.lowercased() }) else {
        let list = known.joined(separator: ", ")
        throw failure(.kind, reason: "\(quoted(part)) is no kind of event; known are \(list)")
      }
      found.append(name)
    }
    return found
  }

  private static func origins(value: String) throws(LogError) -> [EventRecord.Origin] {
    let known = EventRecord.Origin.allCases
    var found: [EventRecord.Origin] = []
    for part in parts(value: value) {
      guard let origin = known.first(where: { "\($0)" == part.lowercased() }) else {
        let list = known.map { "\($0)" }.joined(separator: ", ")
        throw failure(.origin, reason: "\(quoted(part)) is no origin; known are \(list)")
      }
      found.append(origin)
    }
    return found
  }

  private static func codes(value: String) throws(LogError) -> [SyncError.Code] {
    let known = SyncError.Code.known
    var found: [SyncError.Code] = []
    for part in parts(value: value) {
      if let number = Int(part) {
        found.append(SyncError.Code(rawValue: number))
      } else if let code = known.first(where: {
        $0.description.lowercased() == part.lowercased()
      }) {
        found.append(code)
      } else {
        let list = known.map(\.description).joined(separator: ", ")
        throw failure(.code, reason: "\(quoted(part)) is no code and no number; known are \(list)")
      }
    }
    return found
  }

  private static func operation(value: String) throws(LogError) -> OperationSelection {
    let numbers = value.split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
    switch numbers.count {
    case 1: if let number = numbers[0] { return OperationSelection(number: number) }
    case 2:
      if let epoch = numbers[0], let number = numbers[1] {
        return OperationSelection(epoch: epoch, number: number)
      }
    default: break
    }
    throw failure(
      .operation,
      reason:
        "\(quoted(value)) is no operation; they are named epoch.number, as in 1.7, or by number"
    )
  }

  private static func time(
    value: String,
    option: Option,
    start: Timestamp
  ) throws(LogError) -> Timestamp {
    guard let time = TimeText.time(value, start: start) else {
      throw failure(
        option,
        reason: "\(quoted(value)) is no time; write 12:30:05, 2026-11-21T12:30:05Z (both UTC), "
          + "or a length from the start, as in +5s, +1m30s or +250ms"
      )
    }
    return time
  }

  private static func sequences(value: String) throws(LogError) -> ClosedRange<UInt64> {
    let ends = value.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = ends.map { UInt64($0) }
    if ends.count == 1, let number = numbers[0] { return number...number }
    if ends.count == 2, numbers[0] != nil || ends[0].isEmpty, numbers[1] != nil || ends[1].isEmpty,
      value != "-"
    {
      let (first, last) = (numbers[0] ?? 0, numbers[1] ?? .max)
      guard first <= last else {
        throw failure(.events, reason: "\(quoted(value)) ends before it begins")
      }
      return first...last
    }
    throw failure(.events, reason: "\(quoted(value)) is no range; write 12, 10-20, 10- or -20")
  }
}

extension SyncError.Code {
  /// CloudKit's codes and the session's own.
  fileprivate static var known: [Self] {
    cloudCodes + (1_001...1_099).map(Self.init(rawValue:)).filter(\.isSessionCode)
  }
}
