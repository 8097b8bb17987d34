/// What a session did because of an event, by name and number: the content is in the events.
public enum EffectRecord: Sendable {
  /// The handler was called.
  ///
  /// The digest is of everything in the work and its context but what tells about the user.
  case call(Attempt, OperationMode, itemCount: Int, digest: UInt64)
  /// The handler was told that a call is no longer waited for.
  case cancel(Attempt)
  /// The session is to look again at this time, at the latest.
  case wake(Timestamp)
  /// What had changed was announced.
  case publish(Publication)
  /// Completions, pages and parked records were announced: so many from this number on.
  case announce(first: UInt64, count: UInt64)
  /// The account provider was asked.
  case askAccount
  /// The other sessions that share the gate were told to wait.
  case closeSharedGate(Wait)
}

extension EffectRecord: CodedValue {
  private static let names: [StaticString] = [
    "call", "cancel", "wake", "publish", "announce", "askAccount", "closeSharedGate",
  ]

  // Compiled for the formats of logs here: elsewhere every type is looked up at run time.
  @_specialize(where W == LineWriter)
  @_specialize(where W == BinaryWriter)
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .call(let attempt, let mode, let itemCount, let digest):
        $0.tag(0, of: Self.names)
        $0.field("attempt", attempt)
        $0.field("mode", mode)
        $0.field("itemCount", itemCount)
        $0.field("digest", digest)
      case .cancel(let attempt):
        $0.tag(1, of: Self.names)
        $0.field("attempt", attempt)
      case .wake(let time):
        $0.tag(2, of: Self.names)
        $0.field("time", time)
      case .publish(let publication):
        $0.tag(3, of: Self.names)
        $0.field("what", publication.names)
      case .announce(let first, let count):
        $0.tag(4, of: Self.names)
        $0.field("first", first)
        $0.field("count", count)
      case .askAccount: $0.tag(5, of: Self.names)
      case .closeSharedGate(let wait):
        $0.tag(6, of: Self.names)
        $0.field("wait", wait)
      }
    }
  }

  @_specialize(where R == LineReader)
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0:
      self = .call(
        try reader.field("attempt"),
        try reader.field("mode"),
        itemCount: try reader.amount("itemCount"),
        digest: try reader.field("digest")
      )
    case 1: self = .cancel(try reader.field("attempt"))
    case 2: self = .wake(try reader.field("time"))
    case 3:
      let names: [String] = try reader.field("what")
      guard let publication = Publication(names: names) else {
        throw reader.failure("\(names) are not all publications")
      }
      self = .publish(publication)
    case 4:
      self = .announce(first: try reader.number("first"), count: try reader.number("count"))
    case 5: self = .askAccount
    default: self = .closeSharedGate(try reader.field("wait"))
    }
    try reader.endObject()
  }
}

extension Publication {
  private static let allNames = ["event", "state", "halted", "accountStatus", "zone", "progress"]

  /// The names of what is published, in the order of their bits.
  public var names: [String] {
    Self.allNames.indices.filter { rawValue & (1 << UInt8($0)) != 0 }.map { Self.allNames[$0] }
  }

  /// Creates a set from names; nil if one of them is unknown.
  public init?(names: [String]) {
    var bits: UInt8 = 0
    for name in names {
      guard let bit = Self.allNames.firstIndex(of: name) else { return nil }
      bits |= 1 << UInt8(bit)
    }
    self.init(rawValue: bits)
  }
}
