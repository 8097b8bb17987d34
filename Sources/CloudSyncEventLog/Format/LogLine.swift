public import CloudSyncCore

/// One line of a log.
///
/// In the file it is a JSON object of a version, a kind, which is the name of the case, and a payload.
public enum LogLine: Sendable {
  /// What was recorded, and the state with which it begins: the first line, and only that.
  case header(LogHeader)
  /// Something came in from outside: the event lines up to the next input follow from it.
  case input(LogInput)
  /// An event was reduced.
  case event(EventRecord)
  /// What was done because of the event before it.
  case effect(LogEffects)
  /// What the state after the event before it comes to.
  case digest(LogDigest)

  /// The names of the kinds, in the order of the cases.
  package static let kinds: [StaticString] = ["header", "input", "event", "effect", "digest"]
}

/// Something that came into a session from outside.
public struct LogInput: Sendable {
  /// What came in.
  public enum Content: Sendable {
    /// An event that the next event line has as it came in: no middleware changed it.
    case asReduced
    /// An event that a middleware replaced by what the next event line has.
    case event(SyncEvent)
    /// A middleware joined the chain, which now is this.
    case middleware([String])
  }

  /// The number of the event that it became; of a middleware, that of the last event before it.
  public var sequence: UInt64
  /// When it was taken.
  public var time: Timestamp
  /// Where it came from.
  public var origin: EventRecord.Origin
  /// What came in.
  public var content: Content

  /// Creates an input.
  public init(
    sequence: UInt64,
    time: Timestamp,
    origin: EventRecord.Origin,
    content: Content
  ) {
    self.sequence = sequence
    self.time = time
    self.origin = origin
    self.content = content
  }
}

/// What was done because of an event, in order.
public struct LogEffects: Sendable {
  /// The number of the event.
  public var sequence: UInt64
  /// What was done; never empty.
  public var effects: [EffectRecord]

  /// Creates the effects of an event.
  public init(sequence: UInt64, effects: [EffectRecord]) {
    self.sequence = sequence
    self.effects = effects
  }
}

/// What a log is checked by: a digest of all bytes before it, and one of the state.
///
/// The state's digest covers everything in the state but what a ``Redactor`` may hide, so that a
/// redacted log has the same. The digest of the bytes finds whatever was changed, added or removed
/// in the file since it was written.
public struct LogDigest: Sendable, Hashable {
  /// The number of the last event of the state.
  public var sequence: UInt64
  /// The digest of the state.
  public var digest: UInt64
  /// The digest of all lines of the file before this one.
  public var bytes: UInt64
  /// Whether the file ends here as it should.
  public var isEnd: Bool
  /// Whether the log goes on in another file.
  public var isContinued: Bool

  /// Creates a digest.
  public init(
    sequence: UInt64,
    digest: UInt64,
    bytes: UInt64 = 0,
    isEnd: Bool = false,
    isContinued: Bool = false
  ) {
    self.sequence = sequence
    self.digest = digest
    self.bytes = bytes
    self.isEnd = isEnd
    self.isContinued = isContinued
  }

  /// The digest of a state.
  public static func of(_ state: SyncState) -> UInt64 { SkeletonDigest.of(state) }
}

// MARK: - Coded forms

// What every line has is written with the writer's own functions: the core's short cuts for fields are
// generic, and no other module can compile them for a format.

extension LogLine: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("version")
    writer.write(Int64(LogHeader.formatVersion))
    writer.key("kind")
    writer.tag(kindIndex, of: Self.kinds)
    writer.key("payload")
    switch self {
    case .header(let header): header.write(to: &writer)
    case .input(let input): input.write(to: &writer)
    case .event(let record): record.write(to: &writer)
    case .effect(let effects): effects.write(to: &writer)
    case .digest(let digest): digest.write(to: &writer)
    }
    writer.endObject()
  }

  private var kindIndex: Int {
    switch self {
    case .header: 0
    case .input: 1
    case .event: 2
    case .effect: 3
    case .digest: 4
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let version: Int = try reader.field("version")
    guard version == LogHeader.formatVersion else {
      throw reader.failure(
        LogHeader.versionFailure(of: "line", found: version, read: LogHeader.formatVersion)
      )
    }
    try reader.key("kind")
    switch try reader.tag(of: Self.kinds) {
    case 0: self = .header(try reader.field("payload"))
    case 1: self = .input(try reader.field("payload"))
    case 2: self = .event(try reader.field("payload"))
    case 3: self = .effect(try reader.field("payload"))
    default: self = .digest(try reader.field("payload"))
    }
    try reader.endObject()
  }
}

extension LogInput.Content: CodedValue {
  private static let names: [StaticString] = ["asReduced", "event", "middleware"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("kind")
    switch self {
    case .asReduced: writer.tag(0, of: Self.names)
    case .event(let event):
      writer.tag(1, of: Self.names)
      writer.field("event", event)
    case .middleware(let names):
      writer.tag(2, of: Self.names)
      writer.field("names", names)
    }
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .asReduced
    case 1: self = .event(try reader.field("event"))
    default: self = .middleware(try reader.chain(field: "names"))
    }
    try reader.endObject()
  }
}

extension LogInput: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("sequence")
    writer.write(sequence)
    writer.key("time")
    writer.write(time.nanoseconds)
    writer.key("origin")
    writer.tag(origin.rawValue, of: EventRecord.Origin.codedNames)
    writer.key("content")
    content.write(to: &writer)
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    sequence = try reader.number("sequence")
    time = try reader.field("time")
    origin = try reader.field("origin")
    content = try reader.field("content")
    try reader.endObject()
  }
}

extension LogEffects: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("sequence")
    writer.write(sequence)
    writer.key("effects")
    writer.beginArray(count: effects.count)
    for effect in effects { effect.write(to: &writer) }
    writer.endArray()
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    sequence = try reader.number("sequence")
    effects = try reader.field("effects")
    try reader.endObject()
  }
}

extension LogDigest: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("sequence", sequence)
      $0.field("digest", digest)
      $0.field("bytes", bytes)
      $0.field("isEnd", isEnd)
      $0.field("isContinued", isContinued)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    sequence = try reader.number("sequence")
    digest = try reader.field("digest")
    bytes = try reader.field("bytes")
    isEnd = try reader.field("isEnd")
    isContinued = try reader.field("isContinued")
    guard isEnd || !isContinued else { throw reader.failure("only an end can be continued") }
    try reader.endObject()
  }
}
