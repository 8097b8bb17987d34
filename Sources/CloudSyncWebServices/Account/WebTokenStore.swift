/// Where a user's web token is kept between requests, and between runs.
///
/// A token is good for one request, and every response brings the next one: what is not stored is lost, and the user
/// has to sign in again. ``WebTokenFile`` is one; a keychain may be another.
public protocol WebTokenStore: Sendable {
  /// The token that was stored last; nil if nobody has signed in.
  ///
  /// - Throws: That it cannot be read now.
  func load() throws(WebTokenStoreError) -> Secret?

  /// Stores a token in the place of the one before.
  ///
  /// - Parameter token: The token; once the call returns it survives a crash and a loss of power.
  /// - Throws: That it cannot be stored now; the one before is still there.
  func save(_ token: Secret) throws(WebTokenStoreError)
}

/// Why a web token could not be read or stored.
public struct WebTokenStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong, without the token.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}
