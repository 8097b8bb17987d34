/// What the commits of the rows that were there before a history say of themselves.
enum ImportMark {
  private static let start = #"{"import":"#

  /// The meta of one of these commits, which are counted from 1.
  static func meta(part: Int) -> String { "\(start)\(part)}" }

  /// Whether a commit is one of them.
  static func isPresent(in meta: String) -> Bool { meta.hasPrefix(start) }
}
