/// The four kinds of work, in the order in which they come first.
public enum OperationMode: Int, Sendable, CaseIterable, Comparable {
  /// The zone is created.
  case createZone
  /// The subscription that brings pushes is created.
  case createSubscription
  /// Records are saved and deleted.
  case modify
  /// Changes are fetched.
  case fetch

  /// Orders modes by precedence.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

  package static let codedNames: [StaticString] = [
    "createZone", "createSubscription", "modify", "fetch",
  ]
}

extension OperationMode: CodedTag {}
