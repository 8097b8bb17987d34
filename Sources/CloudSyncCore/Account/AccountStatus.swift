/// Whether the user's account can be used, as CloudKit numbers it.
public enum AccountStatus: Hashable, Codable, Sendable, CaseIterable, CodedValue {
  /// Nobody could tell.
  case couldNotDetermine
  /// The account is signed in and ready.
  case available
  /// Parental control or device management forbids it.
  case restricted
  /// Nobody is signed in.
  case noAccount
  /// The account is signed in and not ready yet; nothing may be thrown away.
  case temporarilyUnavailable

  private static let names: [StaticString] = [
    "couldNotDetermine", "available", "restricted", "noAccount", "temporarilyUnavailable",
  ]

  /// The number that CloudKit gives the status, 0 to 4.
  public var rawValue: Int {
    switch self {
    case .couldNotDetermine: 0
    case .available: 1
    case .restricted: 2
    case .noAccount: 3
    case .temporarilyUnavailable: 4
    }
  }

  /// Creates the status that CloudKit gives a number, or nothing if it has none for it.
  public init?(rawValue: Int) {
    guard Self.allCases.indices.contains(rawValue) else { return nil }
    self = Self.allCases[rawValue]
  }

  /// Tells whether two statuses are the same.
  public static func == (lhs: AccountStatus, rhs: AccountStatus) -> Bool {
    lhs.rawValue == rhs.rawValue
  }

  /// Hashes the status.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  package func write<W: CodedWriter>(to writer: inout W) { writer.tag(rawValue, of: Self.names) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = Self.allCases[try reader.tag(of: Self.names)]
  }
}
