public import CloudSyncCore

/// An event of a log in one line of words: when, where from, what, and what was done because of it.
///
/// It has names, numbers and codes, never the values of records or the messages of errors.
/// Whatever a terminal would take for a command is written as an escape.
public struct StepText: Sendable, Hashable, Codable {
  /// The number of the event.
  public let sequence: UInt64
  /// When it happened, by ISO 8601 in UTC.
  public let time: String
  /// How long after the start of the log that was, as in `+5.250s`.
  public let offset: String
  /// Where it came from.
  public let origin: String
  /// The number of the event that caused it, if one did.
  public let cause: UInt64?
  /// The name of the event.
  public let kind: String
  /// The event with its names and counts; begins with its name.
  public let words: String
  /// The code of the error with which the event stopped the session, if it did and does not say so.
  public let halt: String?
  /// What was done because of it, in order; that something was published is left out.
  public let effects: [String]

  /// Puts an event into words.
  ///
  /// - Parameters:
  ///   - step: The event.
  ///   - start: The time that offsets count from: when the log begins.
  public init(_ step: LogStep, start: Timestamp) {
    let record = step.record
    sequence = record.sequence
    time = TimeText.date(record.time)
    offset = TimeText.offset(of: record.time, from: start)
    origin = "\(record.origin)"
    cause = record.cause
    kind = record.event.name
    words = record.event.words(input: step.inputEvent, decisions: record.decisions)
    halt = step.silentHalt.map { "\($0.code)" }
    let description = EventDescription(showsNames: true)
    effects = step.effects.compactMap { effect in
      if case .publish = effect { nil } else { description.text(of: effect, at: record.time) }
    }
  }

  /// Everything in one line.
  public var line: String {
    let because = cause.map { " after #\($0)" } ?? ""
    let done = effects.isEmpty ? "" : " → " + effects.joined(separator: ", ")
    let stop = halt.map { "; stops the session: \($0)" } ?? ""
    return "\(offset) #\(sequence) \(origin)\(because): \(words)\(stop)\(done)"
  }
}

extension LogStep {
  /// The error with which the event stopped the session, where its own words do not name it.
  var silentHalt: SyncError? {
    switch record.event {
    case .halt: nil
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.halt == nil ? halt : nil
    default: halt
    }
  }

  /// The event in one line of words.
  ///
  /// - Parameter start: The time that offsets count from: when the log begins.
  /// - Returns: The line, without what a terminal would take for a command.
  public func line(start: Timestamp) -> String { StepText(self, start: start).line }
}
