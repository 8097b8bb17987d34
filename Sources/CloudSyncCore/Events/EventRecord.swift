/// An event as it entered a state: with its number, its time, and where it came from.
public struct EventRecord: Sendable {
  /// Where an event came from.
  public enum Origin: Int, Sendable, CaseIterable {
    /// The app called the session.
    case call
    /// The handler answered.
    case handler
    /// The timer fired.
    case timer
    /// A provider or another session reported something.
    case report
    /// A middleware dispatched it.
    case middleware

    package static let codedNames: [StaticString] = [
      "call", "handler", "timer", "report", "middleware",
    ]
  }

  /// Counts the events of a state from 1.
  public var sequence: UInt64
  /// When the input that led to it was taken.
  public var time: Timestamp
  /// The number of the event that caused it, if one did: for a response, the request.
  public var cause: UInt64?
  /// Where it came from.
  public var origin: Origin
  /// What was reduced.
  public var event: SyncEvent
  /// What the app's closures decided while the event passed the middleware, in order.
  public var decisions: [Decision]

  /// Creates a record.
  public init(
    sequence: UInt64,
    time: Timestamp,
    cause: UInt64?,
    origin: Origin,
    event: SyncEvent,
    decisions: [Decision] = []
  ) {
    self.sequence = sequence
    self.time = time
    self.cause = cause
    self.origin = origin
    self.event = event
    self.decisions = decisions
  }
}

/// What one of the app's closures answered: an input, kept so that a re-run needs no closure.
public enum Decision: Sendable {
  /// A conflict resolver's answer for a record.
  case conflict(RecordID, ConflictResolution)
  /// The token to fetch from after one expired.
  case expiredToken(ChangeToken?)
  /// That the cloud has already what was to be saved: in a re-run nobody compares values, which a log may hide.
  case alreadyInCloud(RecordID)
  /// What a conflict was measured from, where only values tell which of several versions an edit was made of.
  case ancestor(Record)
}

extension EventRecord.Origin: CodedTag {}

extension Decision: CodedValue {
  private static let names: [StaticString] = [
    "conflict", "expiredToken", "alreadyInCloud", "ancestor",
  ]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .conflict(let recordID, let resolution):
        $0.tag(0, of: Self.names)
        $0.field("recordID", recordID)
        $0.field("resolution", resolution)
      case .expiredToken(let token):
        $0.tag(1, of: Self.names)
        $0.field("token", token)
      case .alreadyInCloud(let recordID):
        $0.tag(2, of: Self.names)
        $0.field("recordID", recordID)
      case .ancestor(let record):
        $0.tag(3, of: Self.names)
        $0.field("record", record)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .conflict(try reader.field("recordID"), try reader.field("resolution"))
    case 1: self = .expiredToken(try reader.field("token"))
    case 2: self = .alreadyInCloud(try reader.field("recordID"))
    default: self = .ancestor(try reader.field("record"))
    }
    try reader.endObject()
  }
}

extension EventRecord: CodedValue {
  // Compiled for the formats of logs here: elsewhere every type is looked up at run time.
  @_specialize(where W == LineWriter)
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("sequence", sequence)
      $0.field("time", time.nanoseconds)
      $0.field("cause", cause)
      $0.field("origin", origin)
      $0.field("event", event)
      $0.field("decisions", decisions)
    }
  }

  @_specialize(where R == LineReader)
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    sequence = try reader.number("sequence")
    time = Timestamp(nanoseconds: try reader.field("time"))
    cause = try reader.field("cause")
    origin = try reader.field("origin")
    event = try reader.field("event")
    decisions = try reader.field("decisions")
    try reader.endObject()
  }
}
