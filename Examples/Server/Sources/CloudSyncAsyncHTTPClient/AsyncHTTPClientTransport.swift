import AsyncHTTPClient
public import CloudSyncSession
public import CloudSyncWebServices
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends requests by AsyncHTTPClient, in place of Foundation's session: for Linux, where that has open faults.
///
/// It follows no redirects, keeps no cookies and no cache, decompresses nothing, and verifies certificates always. Give it to a
/// `WebServicesClient` as its transport, and keep it for as long as the app runs.
public final class AsyncHTTPClientTransport: HTTPTransport {
  private let client: HTTPClient
  private let now: @Sendable () -> Timestamp
  private let largestBody: Int

  /// Creates a transport with connections of its own, which it closes when nobody has it any more.
  ///
  /// - Parameters:
  ///   - largestBody: The bytes that the body of a response may have: more are an error, after which the response counts as
  ///     lost. The default is over what a file of an asset may have.
  ///   - now: The clock that deadlines are by.
  public init(
    largestBody: Int = 256 << 20,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now
  ) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(30), read: .seconds(60)),
      decompression: .disabled
    )
    // The session knows better when to try again, and has to be told.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(
      eventLoopGroupProvider: .singleton,
      configuration: configuration
    )
    self.largestBody = largestBody
    self.now = now
  }

  deinit {
    // Nobody waits for it, and what is on its way is nobody's any more.
    client.shutdown { _ in }
  }

  /// Sends a request.
  public func send(
    _ request: HTTPRequest,
    to origin: String,
    deadline: Timestamp
  ) async throws(HTTPTransportError) -> HTTPResponse {
    let left = now().distance(to: deadline)
    guard left > 0 else { throw HTTPTransportError(.notSent, "the deadline has passed") }
    var message = HTTPClientRequest(url: origin + request.target)
    message.method = HTTPMethod(rawValue: request.method)
    for header in request.headers.all {
      message.headers.add(name: header.name, value: header.value)
    }
    if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
    // A deadline at the end of time is further away than the clock of connections counts.
    let longest = TimeAmount.hours(24 * 365).nanoseconds
    let time = min(left, longest)
    do {
      return try await whole(message, within: time)
    } catch { throw Self.meaning(of: error) }
  }

  /// A response with its whole body, which the client's own deadline is not for.
  private func whole(
    _ message: HTTPClientRequest,
    within nanoseconds: Int64
  ) async throws -> HTTPResponse {
    try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
      group.addTask { [client, largestBody] in
        let response = try await client.execute(
          message,
          deadline: .now() + .nanoseconds(nanoseconds)
        )
        return Self.response(response, body: try await response.body.collect(upTo: largestBody))
      }
      group.addTask {
        try await Task.sleep(for: .nanoseconds(nanoseconds))
        return nil
      }
      defer { group.cancelAll() }
      guard let response = try await group.next() ?? nil else {
        throw HTTPTransportError(.sent, "no whole response came before the deadline")
      }
      return response
    }
  }

  private static func response(_ response: HTTPClientResponse, body: ByteBuffer) -> HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in response.headers { headers[name] = value }
    return HTTPResponse(
      status: Int(response.status.code),
      headers: headers,
      body: [UInt8](body.readableBytesView)
    )
  }

  /// How far the request came.
  private static func meaning(of error: any Error) -> HTTPTransportError {
    switch error {
    case let error as HTTPTransportError: return error
    case let error as NIOConnectionError:
      let isOffline =
        !error.connectionErrors.isEmpty
        && error.connectionErrors.allSatisfy { isOfNetwork($0.error) }
      return isOffline
        ? HTTPTransportError(.noNetwork, "there is no network")
        : HTTPTransportError(.notSent, "no connection could be made")
    case let error as IOError where isOfNetwork(error):
      return HTTPTransportError(.noNetwork, "there is no network")
    // Of an address in numbers there is one connection, whose error it is.
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      return HTTPTransportError(.notSent, "no connection could be made")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      return HTTPTransportError(.notSent, "the server's certificate is not trusted")
    case let error as HTTPClientError:
      let isUnsent = [
        .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .invalidURL,
        .emptyHost,
        .emptyScheme, .alreadyShutdown,
      ]
      .contains(error)
      return HTTPTransportError(
        isUnsent ? .notSent : .sent,
        "the request failed (\(error.shortDescription))"
      )
    default: return HTTPTransportError(.sent, "the request failed (\(type(of: error)))")
    }
  }

  private static func isOfNetwork(_ error: any Error) -> Bool {
    guard let error = error as? IOError else { return false }
    return [ENETUNREACH, ENETDOWN, EHOSTUNREACH].contains(error.errnoCode)
  }
}
