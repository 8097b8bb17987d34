public import CloudSyncCore
import CloudSyncWire

/// One account at one service, shared by the handlers of its sessions.
///
/// ```swift
/// let client = WebServicesClient(
///   address: try WebServicesAddress("https://sync.example.org"),
///   authorization: .bearer(token),
///   transport: URLSessionTransport())
/// let handler = WebServicesOperationHandler(client: client, zoneID: ZoneID(name: "Notes"))
/// ```
public final class WebServicesClient: Sendable {
  /// So many errors of the server's in a row are taken for passing ones.
  private static let passingServerErrors = 3
  private static let callerTimeout = Duration.seconds(60)

  private let address: WebServicesAddress
  private let authorization: WebServicesAuthorization
  private let transport: any HTTPTransport
  private let transfers: any HTTPTransport
  private let clock: @Sendable () -> Timestamp
  /// How many times in a row the server said that it has failed.
  private let serverErrors = Locked(0)
  /// Sends requests with a token that is good for one of them; nil where no such token is needed.
  private let webTokens: WebTokenSession?
  private let followers = Locked<[Follower]>([])
  let uploads: UploadedAssets

  private struct Follower {
    weak var session: CloudSyncSession?
  }

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - address: Where the service is.
  ///   - authorization: How the client says who it is.
  ///   - transport: Sends the requests.
  ///   - transfers: Sends the bytes of files to and from addresses that the service gives, never with a token; nil for
  ///     the same. Apple's service has hosts of their own for files, to which no connection of the API's may be used
  ///     again: give it a transport of its own.
  ///   - now: The clock, for waits that are told as a date.
  public init(
    address: WebServicesAddress,
    authorization: WebServicesAuthorization,
    transport: any HTTPTransport,
    transfers: (any HTTPTransport)? = nil,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now
  ) {
    self.address = address
    self.authorization = authorization
    self.transport = transport
    self.transfers = transfers ?? transport
    clock = now
    uploads = UploadedAssets(isApple: authorization.isApple)
    if case .webToken(let apiToken, let store) = authorization {
      webTokens = WebTokenSession(
        apiToken: apiToken,
        store: store,
        callerRequest: WireCall.caller.request(to: address.database)
      )
    } else {
      webTokens = nil
    }
  }

  /// The time.
  var now: Timestamp { clock() }
  var isApple: Bool { authorization.isApple }
  /// What the service can hold.
  var format: WireFormat { isApple ? .apple : .own }
  /// The environment of the database.
  var environment: String { address.database.environment }

  /// Tells the account that the token belongs to, for `AccountStatusMiddleware`: another user's token is
  /// another account.
  public var accountStatus: AccountStatusProvider {
    AccountStatusProvider { completion in
      Task {
        do throws(SyncError) {
          completion(.available, try await self.callerIdentity())
        } catch {
          switch error.code {
          case .notAuthenticated: completion(.noAccount, nil)
          case .accountTemporarilyUnavailable: completion(.temporarilyUnavailable, nil)
          default: completion(.couldNotDetermine, nil)
          }
        }
      }
    }
  }

  /// Whom the token belongs to.
  package func callerIdentity() async throws(SyncError) -> AccountIdentity {
    try await perform(.caller, deadline: now.adding(Self.callerTimeout))
  }

  /// The zones of the user's own database.
  package func zoneIDs() async throws(SyncError) -> [ZoneID] {
    try await perform(.zones, deadline: now.adding(Self.callerTimeout))
  }

  // MARK: Signing in

  /// Where the user of a web token has to sign in; nil as long as requests can be sent.
  public var signInNeeded: SignInRequest? { webTokens?.signInNeeded }

  /// Where the user has to sign in, whenever that changes; nil when it is no longer needed.
  ///
  /// Nothing is ever published for other authorizations than web tokens.
  public var signInPublisher: SyncPublisher<SignInRequest?> {
    (webTokens?.signInSubject ?? SyncSubject(replaysLast: true)).publisher
  }

  /// Takes the token of a user who has signed in; the sessions that the client follows go on.
  ///
  /// - Parameter webToken: The token as Apple's page hands it over: not percent-encoded, as it is in the address that the
  ///   page goes back to.
  /// - Throws: That it could not be stored: it is not used then.
  public func signIn(webToken: Secret) async throws(WebTokenStoreError) {
    // What was uploaded belongs to whoever was signed in.
    uploads.forgetAll()
    guard let webTokens else {
      throw WebTokenStoreError("the client does not use web tokens")
    }
    try await webTokens.signIn(webToken)
    let sessions = followers.withLock { $0.compactMap(\.session) }
    for session in sessions { session.accountDidChange() }
  }

  /// Tells a session whenever a user has signed in by ``signIn(webToken:)``, for as long as both exist.
  ///
  /// Others notice it when they next ask for the account.
  public func follow(_ session: CloudSyncSession) {
    followers.withLock { followers in
      followers.removeAll { $0.session == nil }
      followers.append(Follower(session: session))
    }
  }

  // MARK: Requests

  /// Makes a call; nothing is retried.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - deadline: When nobody waits for the response any more.
  /// - Returns: The response.
  /// - Throws: The session's error.
  func perform<Answer: Sendable>(
    _ call: WireCall<Answer>,
    deadline: Timestamp
  ) async throws(SyncError) -> Answer {
    let request = call.request(to: address.database)
    switch await response(to: request, deadline: deadline) {
    case .success(let response): return try weighed(call.answer(response, now: now))
    case .failure(.refused(let error)): throw error
    case .failure(.transport(let error)):
      throw error.progress == .noNetwork
        ? SyncError(.networkUnavailable, error.reason)
        : call.error(isSent: error.progress == .sent, reason: error.reason)
    }
  }

  private func response(
    to request: HTTPRequest,
    deadline: Timestamp
  ) async -> Result<HTTPResponse, WebTokenSession.Failure> {
    let exchange: WebTokenSession.Exchange = { [transport, address] request in
      do throws(HTTPTransportError) {
        let origin = address.origin
        return .success(try await transport.send(request, to: origin, deadline: deadline))
      } catch { return .failure(error) }
    }
    var request = request
    switch authorization {
    case .webToken:
      guard let webTokens else { break }
      return await webTokens.send(request, by: exchange)
    case .bearer(let secret): request.headers["Authorization"] = "Bearer \(secret.reveal())"
    case .signed(let signer):
      do throws(RequestSignerError) { try signer.sign(&request, now: now) } catch {
        return .failure(.refused(SyncError(.notAuthenticated, "\(error)")))
      }
    }
    return await exchange(request).mapError(WebTokenSession.Failure.transport)
  }

  // MARK: Files

  /// Sends a request without the token, and returns the body of the response.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - place: Where the service wants it.
  ///   - body: The bytes.
  ///   - deadline: When nobody waits for the response any more.
  /// - Returns: The body.
  /// - Throws: The session's error.
  func transfer(
    _ method: String,
    to place: TransferAddress,
    body: [UInt8] = [],
    deadline: Timestamp
  ) async throws(SyncError) -> [UInt8] {
    let request = HTTPRequest(method: method, target: place.target, body: body)
    let response: HTTPResponse
    do throws(HTTPTransportError) {
      response = try await transfers.send(request, to: place.origin, deadline: deadline)
    } catch {
      throw SyncError(
        error.progress == .noNetwork ? .networkUnavailable : .networkFailure,
        error.reason
      )
    }
    if (200..<300).contains(response.status) { return try weighed(.success(response.body)) }
    let error = WireErrorTable.error(
      of: response,
      zoneID: ZoneID(name: ZoneID.defaultZoneName),
      isModification: false,
      now: now
    )
    return try weighed(.failure(error))
  }

  /// An address that the service gave; nil if it is not one of its own.
  func place(of url: String) -> TransferAddress? {
    TransferAddress(url, of: address.origin, isApple: isApple)
  }

  /// What a response brought; the error of a server that has failed passes a few times, and then it does
  /// not.
  private func weighed<Answer>(_ result: Result<Answer, SyncError>) throws(SyncError) -> Answer {
    switch result {
    case .success(let answer):
      serverErrors.withLock { $0 = 0 }
      return answer
    case .failure(var error):
      guard error.code == .internalError else { throw error }
      let count = serverErrors.withLock { count in
        count += 1
        return count
      }
      if count <= Self.passingServerErrors { error.code = .serviceUnavailable }
      throw error
    }
  }
}
