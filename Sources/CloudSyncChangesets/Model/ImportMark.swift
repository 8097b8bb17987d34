/// What the commits of the rows that were there before a history say of themselves.
package enum ImportMark {
  private static let start = #"{"import":"#

  /// The meta of one of these commits, which are counted from 1.
  static func meta(part: Int) -> String { "\(start)\(part)}" }

  /// Which of these commits one is, by its meta; nil if it is another one.
  package static func part(of meta: String) -> Int? {
    guard meta.hasPrefix(start), meta.hasSuffix("}") else { return nil }
    return Int(meta.dropFirst(start.count).dropLast())
  }
}
