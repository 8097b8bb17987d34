/// How a client says who it is, and with that which service it talks to.
public enum WebServicesAuthorization: Sendable {
  /// A token of the project's own server, in a header and never in an address.
  case bearer(Secret)
  /// Apple's service in the name of a user who has signed in: the token of the container's API, and where the
  /// user's web token is kept, which changes with every response.
  case webToken(apiToken: Secret, store: any WebTokenStore)
  /// Apple's service in the name of the developer, which has the public database only.
  case signed(any RequestSigner)

  /// Whether the service is Apple's: what only the project's own server knows is neither sent nor expected.
  var isApple: Bool {
    switch self {
    case .bearer: false
    case .webToken, .signed: true
    }
  }
}
