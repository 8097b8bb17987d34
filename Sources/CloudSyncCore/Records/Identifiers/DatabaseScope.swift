/// Which of a container's databases a zone lies in.
public enum DatabaseScope: Hashable, Codable, Sendable, CaseIterable, CodedValue {
  /// The user's own records, in the user's own quota.
  case `private`
  /// Records of others that the user was invited to.
  case shared
  /// Records that everybody can read; it has the default zone only, and no change feed.
  case `public`

  private static let names: [StaticString] = ["private", "shared", "public"]

  /// The position in the order of scopes, and in the coded form.
  package var index: Int {
    switch self {
    case .private: 0
    case .shared: 1
    case .public: 2
    }
  }

  /// Tells whether two scopes are the same.
  public static func == (lhs: DatabaseScope, rhs: DatabaseScope) -> Bool {
    lhs.index == rhs.index
  }

  /// Hashes the scope.
  public func hash(into hasher: inout Hasher) { hasher.combine(index) }

  package func write<W: CodedWriter>(to writer: inout W) { writer.tag(index, of: Self.names) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = Self.allCases[try reader.tag(of: Self.names)]
  }
}
