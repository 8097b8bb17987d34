public import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

  private let address: WebServicesAddress
  private let authorization: WebServicesAuthorization
  private let transport: any HTTPTransport
  private let now: @Sendable () -> Timestamp
  /// How many times in a row the server said that it has failed.
  private let serverErrors = Locked(0)
  /// Until when files that were uploaded need not be sent again, by their digests.
  private let uploads = Locked<[Data: Timestamp]>([:])
  /// How long the service keeps a file without a record.
  private static let uploadLifetime = Duration.seconds(15 * 60)

  private static let callerTimeout = Duration.seconds(60)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - address: Where the service is.
  ///   - authorization: How the client says who it is.
  ///   - transport: Sends the requests.
  ///   - now: The clock, for waits that are told as a date.
  public init(
    address: WebServicesAddress,
    authorization: WebServicesAuthorization,
    transport: any HTTPTransport,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now
  ) {
    self.address = address
    self.authorization = authorization
    self.transport = transport
    self.now = now
  }

  /// Tells the account that the token belongs to, for `AccountStatusMiddleware`: another user's token is
  /// another account.
  public var accountStatus: AccountStatusProvider {
    AccountStatusProvider { completion in
      Task {
        do throws(SyncError) {
          completion(.available, try await self.callerIdentity())
        } catch {
          switch error.code {
          case .notAuthenticated, .permissionFailure: completion(.noAccount, nil)
          case .accountTemporarilyUnavailable: completion(.temporarilyUnavailable, nil)
          default: completion(.couldNotDetermine, nil)
          }
        }
      }
    }
  }

  /// Whom the token belongs to.
  package func callerIdentity() async throws(SyncError) -> AccountIdentity {
    try await perform(.caller, deadline: now().adding(Self.callerTimeout))
  }

  /// Makes a call; nothing is retried.
  func perform<Answer: Sendable>(
    _ call: WireCall<Answer>,
    deadline: Timestamp
  ) async throws(SyncError) -> Answer {
    var request = call.request(to: address.database)
    authorization.authorize(&request)
    let response: HTTPResponse
    do throws(HTTPTransportError) {
      response = try await transport.send(request, to: address.origin, deadline: deadline)
    } catch {
      throw error.progress == .noNetwork
        ? SyncError(.networkUnavailable, error.reason)
        : call.error(isSent: error.progress == .sent, reason: error.reason)
    }
    return try weighed(call.answer(response, now: now()))
  }

  // MARK: Files

  /// Sends a request without the token, and returns the body of the response.
  func transfer(
    _ request: HTTPRequest,
    deadline: Timestamp
  ) async throws(SyncError) -> [UInt8] {
    let response: HTTPResponse
    do throws(HTTPTransportError) {
      response = try await transport.send(request, to: address.origin, deadline: deadline)
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
      now: now()
    )
    return try weighed(.failure(error))
  }

  /// The target of an address at this service; nil for any other address.
  func target(of url: String) -> String? {
    let target =
      url.hasPrefix("\(address.origin)/") ? url.dropFirst(address.origin.count) : url[...]
    guard target.first == "/", !target.hasPrefix("//"),
      target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    return String(target)
  }

  /// Whether the service has had a file a short while ago.
  func hasUploaded(_ asset: Asset) -> Bool {
    let time = now()
    return uploads.withLock { $0[asset.sha256].map { time < $0 } ?? false }
  }

  func forgetUploads() { uploads.withLock { $0.removeAll() } }

  func noteUpload(of asset: Asset) {
    let time = now()
    uploads.withLock { uploads in
      uploads = uploads.filter { time < $0.value }
      uploads[asset.sha256] = time.adding(Self.uploadLifetime)
    }
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
