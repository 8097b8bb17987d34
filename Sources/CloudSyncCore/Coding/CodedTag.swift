/// An enumeration without payloads: coded by the name of its case, in binary by its index.
package protocol CodedTag: CodedValue, RawRepresentable, CaseIterable
where RawValue == Int, AllCases == [Self] {
  /// The names of all cases, in the order of their raw values from 0.
  static var codedNames: [StaticString] { get }
}

extension CodedTag {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.tag(rawValue, of: Self.codedNames)
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = Self.allCases[try reader.tag(of: Self.codedNames)]
  }

  /// Tells whether two cases are the same.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.rawValue == rhs.rawValue }

  /// Hashes the case.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
