/// How a client says who it is.
public enum WebServicesAuthorization: Sendable {
  /// A token of the project's own server, in a header and never in an address.
  case bearer(Secret)

  /// What a request carries.
  func authorize(_ request: inout HTTPRequest) {
    switch self {
    case .bearer(let secret): request.headers["Authorization"] = "Bearer \(secret.reveal())"
    }
  }
}

/// Text that nobody is to read: it prints as three dots.
public struct Secret: Sendable, ExpressibleByStringLiteral, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  private let text: String

  /// Hides a text.
  public init(_ text: String) { self.text = text }

  /// Hides a text.
  public init(stringLiteral value: String) { text = value }

  func reveal() -> String { text }

  /// Three dots.
  public var description: String { "…" }
  /// Three dots.
  public var debugDescription: String { "…" }
  /// Nothing inside.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
