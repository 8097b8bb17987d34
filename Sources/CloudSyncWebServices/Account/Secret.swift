/// Text that nobody is to read: it prints as three dots.
public struct Secret: Sendable, ExpressibleByStringLiteral, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  private let text: String

  /// Hides a text.
  public init(_ text: String) { self.text = text }

  /// Hides a text.
  public init(stringLiteral value: String) { text = value }

  /// The text: for whoever stores it where others cannot read it, such as a keychain.
  public func reveal() -> String { text }

  /// Three dots.
  public var description: String { "…" }
  /// Three dots.
  public var debugDescription: String { "…" }
  /// Nothing inside.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
