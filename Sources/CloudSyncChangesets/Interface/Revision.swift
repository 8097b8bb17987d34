/// What names a commit: its identifier or the beginning of it, a branch, a tag, or `HEAD`.
///
/// `~3` behind any of them is the third before it, by first parents.
public struct Revision: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text.
  public let description: String

  /// Creates a revision from what people write.
  public init(_ text: String) { description = text }

  /// Creates a revision from what people write.
  public init(stringLiteral text: String) { description = text }

  /// Creates a revision that is one commit.
  public init(_ id: ChangesetID) { description = id.description }

  /// The commit that the rows are those of.
  public static let head = Revision("HEAD")
}
