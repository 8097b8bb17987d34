/// What a session announces after an event; values are those of the new state.
public struct Publication: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The event that was reduced, with its number, time and cause.
  public static let event = Self(rawValue: 1 << 0)
  /// The new state.
  public static let state = Self(rawValue: 1 << 1)
  /// Why the session is stopped, or that it works again.
  public static let halted = Self(rawValue: 1 << 2)
  /// The account's status as the provider told it.
  public static let accountStatus = Self(rawValue: 1 << 3)
  /// The state of the zone.
  public static let zone = Self(rawValue: 1 << 4)
  /// The progress.
  public static let progress = Self(rawValue: 1 << 5)
}

extension Publication {
  private static let allNames: [StaticString] = [
    "event", "state", "halted", "accountStatus", "zone", "progress",
  ]

  private var bits: some Collection<Int> {
    Self.allNames.indices.lazy.filter { rawValue & (1 << UInt8($0)) != 0 }
  }

  /// The names of what is published, in the order of their bits.
  public var names: [String] { bits.map { "\(Self.allNames[$0])" } }

  func writeNames<W: CodedWriter>(to writer: inout W) {
    writer.beginArray(count: bits.count)
    for bit in bits { writer.tag(bit, of: Self.allNames) }
    writer.endArray()
  }

  init<R: CodedReader>(namesFrom reader: inout R) throws(CodedError) {
    let bits = try reader.array { (reader) throws(CodedError) in
      try reader.tag(of: Self.allNames)
    }
    self.init(rawValue: bits.reduce(0) { $0 | 1 << UInt8($1) })
  }
}
