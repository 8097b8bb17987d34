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
  /// Tells whether two effects are the same.
  public static func == (lhs: EffectRecord, rhs: EffectRecord) -> Bool {
    switch (lhs, rhs) {
    case (.call(let attempt, let mode, let count, let digest), .call(let a, let m, let c, let d)):
      attempt == a && mode == m && count == c && digest == d
    case (.cancel(let attempt), .cancel(let other)): attempt == other
    case (.wake(let time), .wake(let other)): time == other
    case (.publish(let publication), .publish(let other)): publication == other
    case (.announce(let first, let count), .announce(let f, let c)): first == f && count == c
    case (.askAccount, .askAccount): true
    case (.closeSharedGate(let wait), .closeSharedGate(let other)): wait == other
    default: false
    }
  }

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
        $0.key("what")
        publication.writeNames(to: &$0)
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
      try reader.key("what")
      self = .publish(try Publication(namesFrom: &reader))
    case 4:
      self = .announce(first: try reader.number("first"), count: try reader.number("count"))
    case 5: self = .askAccount
    default: self = .closeSharedGate(try reader.field("wait"))
    }
    try reader.endObject()
  }
}
