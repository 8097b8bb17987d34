public import CloudSyncCore

/// Sends requests and brings responses: what a ``WebServicesClient`` needs of a network.
///
/// A transport follows no redirects, keeps no cookies and no cache, and verifies certificates always.
public protocol HTTPTransport: Sendable {
  /// Sends a request.
  ///
  /// - Parameters:
  ///   - request: The request; its target begins with a slash.
  ///   - origin: Scheme, host and port, as `https://sync.example.org`.
  ///   - deadline: When nobody waits for the response any more.
  /// - Returns: The response, whatever its status.
  /// - Throws: That there was none, and whether the server may have got the request.
  func send(
    _ request: HTTPRequest,
    to origin: String,
    deadline: Timestamp
  ) async throws(HTTPTransportError) -> HTTPResponse
}

/// Why there was no response.
public struct HTTPTransportError: Error, Sendable, Hashable {
  /// How far a request came.
  public enum Progress: Sendable, Hashable {
    /// There is no network.
    case noNetwork
    /// Nothing of it has left: no such host, no connection, or none that is trusted.
    case notSent
    /// The server may have got it.
    case sent
  }

  /// How far the request came.
  public var progress: Progress
  /// What happened, in words, without anything secret.
  public var reason: String

  /// Creates an error.
  public init(_ progress: Progress, _ reason: String) {
    self.progress = progress
    self.reason = reason
  }
}
