import CloudSyncCore
import CloudSyncWire

/// Where a user has to sign in before requests go on.
public struct SignInRequest: Sendable, Hashable {
  /// The address of Apple's page, for a browser; nil if the service did not tell one.
  ///
  /// When the user has signed in there, the page hands over a web token: give it to
  /// ``WebServicesClient/signIn(webToken:)``.
  public let address: String?
  /// Why: that nobody has signed in, or what the service said.
  public let reason: String
}

/// Sends the requests of a user with a web token that is good for one of them: one at a time, each with the token that
/// the response before has brought.
///
/// A new token is stored before its response goes on to anybody. If a response is lost, so is its token; the one that
/// is stored is tried once more, and if that is refused the user has to sign in.
final class WebTokenSession: Sendable {
  typealias Exchange =
    @Sendable (HTTPRequest) async -> Result<HTTPResponse, HTTPTransportError>

  /// Why there is no response.
  enum Failure: Error {
    case transport(HTTPTransportError)
    /// Nothing was sent.
    case refused(SyncError)
  }

  private struct State: Sendable {
    /// The token of the last response, as long as it could not be stored.
    var unsaved: Secret?
    /// The token with which nobody was let in.
    var refused: Secret?
    var signIn: SignInRequest?
  }

  private static let givenUp = SyncError(.operationCancelled, "the call was given up")

  private static let responseHeaders = [
    "X-Apple-CloudKit-Web-Auth-Token", "X-Apple-CloudKit-Session",
  ]

  private let apiToken: Secret
  private let store: any WebTokenStore
  /// A request without data of its own: the response to it tells where to sign in.
  private let callerRequest: HTTPRequest
  private let gate = SerialGate()
  private let state = Locked(State())
  let signInSubject = SyncSubject<SignInRequest?>(replaysLast: true)

  init(apiToken: Secret, store: any WebTokenStore, callerRequest: HTTPRequest) {
    self.apiToken = apiToken
    self.store = store
    self.callerRequest = callerRequest
  }

  var signInNeeded: SignInRequest? { state.withLock { $0.signIn } }

  /// Takes the token of a user who has signed in.
  func signIn(_ token: Secret) async throws(WebTokenStoreError) {
    // Behind the request that is on its way, whose response would put its own token over this one.
    let result = await gate.run { [self] () -> Result<Void, WebTokenStoreError> in
      do throws(WebTokenStoreError) {
        try store.save(token)
        state.withLock {
          $0.unsaved = nil
          $0.refused = nil
        }
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
    publish(nil)
  }

  /// Sends a request when it is its turn.
  ///
  /// - Parameters:
  ///   - request: The request, without tokens.
  ///   - exchange: Sends it.
  /// - Returns: The response, whose token is stored.
  func send(
    _ request: HTTPRequest,
    by exchange: @escaping Exchange
  ) async -> Result<HTTPResponse, Failure> {
    let isGivenUp = Locked(false)
    // A task of its own: one that was given up while it was on its way is let finish for its token.
    let task = Task { [self] in
      await gate.run { [self] () -> Result<HTTPResponse, Failure> in
        if isGivenUp.withLock({ $0 }) {
          return .failure(.refused(Self.givenUp))
        }
        return await sendAlone(request, by: exchange)
      }
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      isGivenUp.withLock { $0 = true }
    }
    // Its token is kept; what it says is for nobody.
    return isGivenUp.withLock { $0 } ? .failure(.refused(Self.givenUp)) : result
  }

  private func sendAlone(
    _ request: HTTPRequest,
    by exchange: Exchange
  ) async -> Result<HTTPResponse, Failure> {
    let token: Secret?
    do throws(WebTokenStoreError) { token = try current() } catch {
      return .failure(.refused(SyncError(.serviceUnavailable, "\(error)")))
    }
    guard let token else {
      return await refuse("nobody has signed in", response: nil, by: exchange)
    }
    if state.withLock({ $0.refused?.reveal() == token.reveal() }) {
      return .failure(.refused(SyncError(.notAuthenticated, "the user has to sign in again")))
    }
    switch await exchange(request.carrying(apiToken: apiToken, webToken: token)) {
    case .failure(let error): return .failure(.transport(error))
    case .success(let response):
      do throws(WebTokenStoreError) { try keepToken(of: response) } catch {
        // The response counts as lost: what follows from it must not outlive the token.
        return .failure(.transport(HTTPTransportError(.sent, "\(error)")))
      }
      guard let failure = response.refusal else {
        if state.withLock({ $0.signIn != nil || $0.refused != nil }) { welcome() }
        return .success(response)
      }
      state.withLock { $0.refused = token }
      _ = await refuse(failure.reason, response: failure, by: exchange)
      return .success(response)
    }
  }

  /// The token to send; one that could not be stored is stored now.
  private func current() throws(WebTokenStoreError) -> Secret? {
    if let unsaved = state.withLock({ $0.unsaved }) {
      try store.save(unsaved)
      state.withLock { $0.unsaved = nil }
      return unsaved
    }
    return try store.load()
  }

  private func keepToken(of response: HTTPResponse) throws(WebTokenStoreError) {
    let text = Self.responseHeaders.lazy.compactMap { response.headers[$0] }.first
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return }
    let token = Secret(text)
    do throws(WebTokenStoreError) { try store.save(token) } catch {
      state.withLock { $0.unsaved = token }
      throw error
    }
  }

  // MARK: Signing in

  /// Publishes where to sign in, which is asked for if the response does not say.
  private func refuse(
    _ reason: String,
    response: WireFailure?,
    by exchange: Exchange
  ) async -> Result<HTTPResponse, Failure> {
    var address = response?.signInAddress
    if address == nil,
      case .success(let answer) = await exchange(callerRequest.carrying(apiToken: apiToken))
    {
      address = answer.refusal?.signInAddress
    }
    publish(SignInRequest(address: address, reason: reason))
    return .failure(.refused(SyncError(.notAuthenticated, reason)))
  }

  private func welcome() {
    state.withLock { $0.refused = nil }
    publish(nil)
  }

  private func publish(_ request: SignInRequest?) {
    let isNew = state.withLock { state in
      defer { state.signIn = request }
      return state.signIn != request
    }
    if isNew { signInSubject.send(request) }
  }
}

extension HTTPRequest {
  /// The request with tokens in its query, in which signs such as + and / have a meaning of their own.
  fileprivate func carrying(apiToken: Secret, webToken: Secret? = nil) -> HTTPRequest {
    var request = self
    request.target += "?ckAPIToken=\(PercentEncoding.text(apiToken.reveal()))"
    if let webToken {
      request.target += "&ckWebAuthToken=\(PercentEncoding.text(webToken.reveal()))"
    }
    return request
  }
}

extension HTTPResponse {
  /// What the service says if it does not let the user in; nil if it does.
  fileprivate var refusal: WireFailure? {
    if (200..<300).contains(status) { return nil }
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    let error = WireErrorTable.error(
      of: self,
      zoneID: zoneID,
      isModification: false,
      now: .distantPast
    )
    guard error.code == .notAuthenticated else { return nil }
    return WireFailure.read(body, zoneID: zoneID)
      ?? WireFailure(code: "AUTHENTICATION_FAILED", reason: error.message)
  }
}

extension WireFailure {
  /// Where to sign in; nil if it is no address that may be opened in a browser.
  fileprivate var signInAddress: String? {
    guard let redirectURL, redirectURL.hasPrefix("https://"), redirectURL.utf8.count <= 4_096,
      redirectURL.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    return redirectURL
  }
}

/// Texts as parts of an address.
enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// A text of which only letters, digits and `-._~` stay as they are (RFC 3986).
  static func text(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte)
      {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
