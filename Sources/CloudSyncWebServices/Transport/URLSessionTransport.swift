public import CloudSyncCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests by one session of Foundation's: without cookies, cache and redirects.
public final class URLSessionTransport: HTTPTransport {
  /// The longest time without a sign of life from the server.
  private static let idleSeconds: Double = 60
  private let session: URLSession
  private let environment: SyncEnvironment

  /// Creates a transport, to be kept for as long as the app runs.
  ///
  /// - Parameter environment: Where its clock and timers come from, which deadlines are by.
  public init(environment: SyncEnvironment = .live) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    self.environment = environment
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request.
  public func send(
    _ request: HTTPRequest,
    to origin: String,
    deadline: Timestamp
  ) async throws(HTTPTransportError) -> HTTPResponse {
    guard let url = URL(string: origin + request.target) else {
      throw HTTPTransportError(.notSent, "the address cannot be used")
    }
    var message = URLRequest(url: url)
    message.httpMethod = request.method
    for header in request.headers.all {
      message.setValue(header.value, forHTTPHeaderField: header.name)
    }
    if !request.body.isEmpty { message.httpBody = Data(request.body) }
    let left = environment.now().distance(to: deadline)
    guard left > 0 else { throw HTTPTransportError(.notSent, "the deadline has passed") }
    message.timeoutInterval = min(Self.idleSeconds, Double(left) / 1e9)
    return try await result(of: message, within: left).get()
  }

  private func result(
    of message: URLRequest,
    within nanoseconds: Int64
  ) async -> Result<HTTPResponse, HTTPTransportError> {
    let running = Locked<URLSessionDataTask?>(nil)
    // The session's own time is only that without a sign of life, and a server may give signs for ever.
    let isLate = Locked(false)
    let timer = environment.makeTimer(.immediate) {
      isLate.withLock { $0 = true }
      running.withLock { $0 }?.cancel()
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let task = session.dataTask(with: message) { data, response, error in
          if let response = response as? HTTPURLResponse, error == nil {
            continuation.resume(returning: .success(Self.response(response, body: data)))
          } else if isLate.withLock({ $0 }) {
            let late = HTTPTransportError(.sent, "no whole response came before the deadline")
            continuation.resume(returning: .failure(late))
          } else {
            continuation.resume(returning: .failure(Self.meaning(of: error)))
          }
        }
        running.withLock { $0 = task }
        task.resume()
        timer.schedule(after: nanoseconds)
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      running.withLock { $0 }?.cancel()
    }
  }

  private static func response(_ response: HTTPURLResponse, body data: Data?) -> HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
    return HTTPResponse(
      status: response.statusCode,
      headers: headers,
      body: data.map { [UInt8]($0) } ?? []
    )
  }

  /// Whether an error without a number of its own is that of a certificate: libcurl's is lost on Linux, where Foundation
  /// passes on nothing of it but libcurl's words, which are in no language but English.
  private static func isOfCertificate(_ error: any Error) -> Bool {
    #if canImport(FoundationNetworking)
    let words = error.localizedDescription
    return words.hasPrefix("SSL certificate") || words.hasPrefix("SSL: ")
    #else
    return false
    #endif
  }

  /// How far the request came, by the number of Foundation's error.
  private static func meaning(of error: (any Error)?) -> HTTPTransportError {
    let code = (error as? URLError)?.code.rawValue ?? 0
    if let error, code == URLError.Code.unknown.rawValue, isOfCertificate(error) {
      return HTTPTransportError(.notSent, "the server's certificate is not trusted")
    }
    let reason = "the request failed (URL error \(code))"
    switch code {
    // Not connected; roaming is off; no data are allowed.
    case -1009, -1018, -1020: return HTTPTransportError(.noNetwork, "there is no network")
    // No such host; no connection; no name service.
    case -1003, -1004, -1006: return HTTPTransportError(.notSent, reason)
    case -1206 ... -1200:
      return HTTPTransportError(.notSent, "the server's certificate is not trusted (\(code))")
    default: return HTTPTransportError(.sent, reason)
    }
  }
}

/// Lets no request go elsewhere: what it carries is for one server.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) { completionHandler(nil) }
}
