import CloudSyncService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What a responder knows of a request beside the request.
struct ConnectionContext: InitializableFromSource, Sendable {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }

  /// Where the request comes from: a proxy on this machine says for whom it asks.
  func address(_ headers: HTTPFields) -> String? {
    guard let peer = channel.remoteAddress?.ipAddress else { return nil }
    guard ["127.0.0.1", "::1"].contains(peer),
      let forwarded = headers[values: .xForwardedFor].last?.split(separator: ",").last
    else { return peer }
    // What comes before it the proxy was told by others.
    return String(forwarded.filter { $0 != " " }.prefix(64))
  }
}

extension HTTPField.Name {
  static var xForwardedFor: Self { Self("X-Forwarded-For") ?? .forwarded }
  static var writeToken: Self { Self("X-CloudSync-Write-Token") ?? .forwarded }
  static var history: Self { Self("X-CloudSync-History") ?? .forwarded }
  private static var forwarded: Self { .via }
}

/// Answers the requests of devices: reads them within the limits, and lets the service do the rest.
struct ServiceResponder: HTTPResponder {
  typealias Context = ConnectionContext

  let service: CloudService
  let pool: StorePool
  let gate: RequestGate
  let limits: ServerLimits
  let metrics: ServerMetrics
  let health: StoreHealth
  let logger: Logger
  /// Whether to find out who sends a request may take long.
  let waitsForTokens: Bool

  func respond(to request: Request, context: ConnectionContext) async throws -> Response {
    let start = ContinuousClock.now
    let endpoint = RequestKind(path: request.head.path ?? "")
    let (response, isLast) = try await answer(request, endpoint, context)
    let duration = ContinuousClock.now - start
    metrics.note(endpoint, status: response.status, duration: duration)
    health.note(status: response.status, of: endpoint)
    if response.status >= 500, response.status != 503 {
      // Neither the path nor the response: there may be names, tickets and values in them.
      logger.error("\(endpoint.name) answered \(response.status)")
    }
    return Self.response(response, isLast: isLast, on: context.channel)
  }

  /// The response, and whether the connection ends with it.
  private func answer(
    _ request: Request,
    _ endpoint: RequestKind,
    _ context: ConnectionContext
  ) async throws -> (ServiceResponse, isLast: Bool) {
    let address = context.address(request.headers)
    var message = Self.message(request)
    let isUpload = endpoint == .assets
    // Nobody's body is received whom the service does not know.
    let hasBody =
      request.headers[.contentLength].map { $0 != "0" }
      ?? request.headers.contains(.transferEncoding)
    guard hasBody else { return (await ask(message, from: address), false) }
    guard let sender = await sender(of: message) else {
      return (await ask(message, from: address), true)
    }
    if let encoding = request.headers[.contentEncoding], encoding.lowercased() != "identity" {
      return (await ask(message, from: address), true)
    }
    let limit = isUpload ? limits.service.assetByteCount : limits.service.bodyByteCount
    let promised = request.headers[.contentLength].map { Int($0) ?? .max } ?? limit
    guard promised <= limit else { return (Self.tooLarge(limit: limit), true) }
    guard gate.take(bytes: promised, of: sender) else { return (.busy(), true) }
    defer { gate.give(bytes: promised, of: sender) }
    message.body.reserveCapacity(request.headers[.contentLength] == nil ? 0 : promised)
    for try await piece in request.body {
      guard message.body.count + piece.readableBytes <= limit else {
        return (Self.tooLarge(limit: limit), true)
      }
      message.body.append(contentsOf: piece.readableBytesView)
    }
    return (await ask(message, from: address), false)
  }

  /// The account that a request comes from; nil if nobody knows it.
  private func sender(of message: ServiceRequest) async -> String? {
    guard waitsForTokens else { return service.sender(of: message) }
    // Where nobody has time to look, nobody has time to answer either.
    return await pool.run(orElse: nil) { [service] in $0(service.sender(of: message)) }
  }

  private static func tooLarge(limit: Int) -> ServiceResponse {
    .refusal(status: 413, code: "BAD_REQUEST", "a body has at most \(limit) bytes")
  }

  private func ask(_ message: ServiceRequest, from address: String?) async -> ServiceResponse {
    let key = message.headers["Authorization"] ?? String(message.path)
    guard gate.enter(key) else {
      return .refusal(
        status: 429,
        code: "THROTTLED",
        "a token has at most \(limits.requestsOfToken) requests under way",
        retryAfter: 1
      )
    }
    defer { gate.leave(key) }
    var response = await pool.run(orElse: ServiceResponse.busy()) { [service] completion in
      service.respond(
        to: message,
        from: address,
        sendingFiles: true,
        completion: completion
      )
    }
    // A disk that is full or away does not come back at once.
    if response.status == 503, response.headers["Retry-After"] == nil {
      response.headers["Retry-After"] = "5"
    }
    return response
  }

  private static func message(_ request: Request) -> ServiceRequest {
    var headers = ServiceHeaders()
    let names: [(HTTPField.Name, String)] = [
      (.authorization, "Authorization"), (.contentEncoding, "Content-Encoding"),
      (.writeToken, "X-CloudSync-Write-Token"), (.history, "X-CloudSync-History"),
    ]
    for (name, text) in names {
      if let value = request.headers[name] { headers[text] = value }
    }
    return ServiceRequest(
      method: request.method.rawValue,
      target: request.head.path ?? "/",
      headers: headers
    )
  }

  private static func response(
    _ response: ServiceResponse,
    isLast: Bool,
    on channel: any Channel
  ) -> Response {
    var fields = HTTPFields()
    for header in response.headers.all {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields[name] = header.value
    }
    if isLast { fields[.connection] = "close" }
    return Response(
      status: .init(code: response.status),
      headers: fields,
      body: response.file.map { Self.body(of: $0, on: channel) }
        ?? (response.body.isEmpty
          ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
    )
  }

  /// A body of a file: slow clients cost a piece of it each.
  private static func body(of file: ServiceFile, on channel: any Channel) -> ResponseBody {
    ResponseBody(contentLength: file.byteCount) { writer in
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
      defer { try? handle.close() }
      var rest = file.byteCount
      while rest > 0 {
        guard let piece = try handle.read(upToCount: min(rest, 65_536)), !piece.isEmpty else {
          // The connection ends before the length that was promised: the client sees that it is not whole.
          throw CocoaError(.fileReadCorruptFile)
        }
        rest -= piece.count
        try await writer.write(ByteBuffer(bytes: piece))
        // A writer waits only once the event loop has seen that the client reads too little: without this,
        // a loop that is late would be handed the whole file.
        try await channel.eventLoop.submit {}.get()
      }
      try await writer.finish(nil)
    }
  }
}
