import CloudSyncAsyncHTTPClient
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

/// The transports that are to do the same.
enum TestTransport: String, CaseIterable, Sendable {
  case foundation, asyncHTTPClient

  func make() -> any HTTPTransport {
    switch self {
    case .foundation: URLSessionTransport()
    case .asyncHTTPClient: AsyncHTTPClientTransport()
    }
  }
}

@Suite("Transports")
struct TransportTests {
  private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

  private func send(
    _ request: HTTPRequest = HTTPRequest(method: "POST", target: "/x", body: [1]),
    by transport: TestTransport,
    to origin: String,
    deadline: Timestamp = .distantFuture
  ) async -> Result<HTTPResponse, HTTPTransportError> {
    let transport = transport.make()
    do throws(HTTPTransportError) {
      return .success(try await transport.send(request, to: origin, deadline: deadline))
    } catch { return .failure(error) }
  }

  @Test("A redirect is a response, and nothing goes elsewhere", arguments: TestTransport.allCases)
  func redirects(transport: TestTransport) async throws {
    let other = try RawServer { Self.empty }
    let server = try RawServer { [origin = other.origin] in
      "HTTP/1.1 307 Elsewhere\r\nLocation: \(origin)/y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let response = try await send(by: transport, to: server.origin).get()
    #expect(response.status == 307)
    #expect(other.heads.isEmpty)
  }

  @Test(
    "Headers and bodies arrive as they were sent, and cookies go nowhere",
    arguments: TestTransport.allCases
  )
  func headers(transport: TestTransport) async throws {
    let server = try RawServer {
      "HTTP/1.1 429 Later\r\nSet-Cookie: a=b; Path=/\r\nRetry-After: 7\r\nContent-Length: 2\r\n"
        + "Connection: close\r\n\r\n{}"
    }
    let one = transport.make()
    for _ in 0..<2 {
      let response = try await one.send(
        HTTPRequest(method: "GET", target: "/x?q=%2B", headers: ["Authorization": "Bearer t"]),
        to: server.origin,
        deadline: .distantFuture
      )
      #expect(response.status == 429 && response.headers["retry-after"] == "7")
      #expect(response.body == Array("{}".utf8))
    }
    #expect(server.heads.count == 2)
    for head in server.heads {
      #expect(head.hasPrefix("GET /x?q=%2B HTTP/1.1"))
      #expect(head.lowercased().contains("authorization: bearer t"))
      #expect(!head.lowercased().contains("cookie"))
    }
  }

  @Test(
    "No connection and a passed deadline mean that nothing was sent; a broken one that it may be",
    arguments: TestTransport.allCases
  )
  func failures(transport: TestTransport) async throws {
    // Nobody listens there.
    let none = await send(by: transport, to: "http://127.0.0.1:1")
    #expect(throws: HTTPTransportError(.notSent, none.reason)) { try none.get() }
    let server = try RawServer { "" }
    let passed = await send(by: transport, to: server.origin, deadline: Timestamp(nanoseconds: 1))
    #expect(throws: HTTPTransportError(.notSent, passed.reason)) { try passed.get() }
    #expect(server.heads.isEmpty)
    let broken = await send(by: transport, to: server.origin)
    #expect(throws: HTTPTransportError(.sent, broken.reason)) { try broken.get() }
    #expect(server.heads.count == 1)
  }

  @Test("A response that does not end is none at its deadline", arguments: TestTransport.allCases)
  func endless(transport: TestTransport) async throws {
    let server = try RawServer(isEndless: true) { "HTTP/1.1 200 OK\r\n\r\n" }
    let deadline = SyncEnvironment.live.now().adding(.seconds(1))
    let endless = await send(by: transport, to: server.origin, deadline: deadline)
    #expect(throws: HTTPTransportError(.sent, endless.reason)) { try endless.get() }
  }

  /// Foundation ends the process where a header is cut: this is what the other transport is for.
  @Test("A response that is cut anywhere is none")
  func cut() async throws {
    try await cut("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
    try await cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
  }

  private func cut(_ whole: String) async throws {
    for count in 0..<whole.utf8.count {
      let server = try RawServer {
        String(decoding: whole.utf8.prefix(count), as: UTF8.self)
      }
      let cut = await send(by: .asyncHTTPClient, to: server.origin)
      #expect(throws: HTTPTransportError(.sent, cut.reason), "\(count)") { try cut.get() }
    }
    let server = try RawServer { whole }
    #expect(try await send(by: .asyncHTTPClient, to: server.origin).get().body.count == 5)
  }

  @Test("A body over the limit is no response")
  func largeBody() async throws {
    let body = String(repeating: "x", count: 2_000)
    let server = try RawServer {
      "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\nConnection: close\r\n\r\n\(body)"
    }
    let transport = AsyncHTTPClientTransport(largestBody: 1_000)
    await #expect(throws: HTTPTransportError.self) {
      try await transport.send(
        HTTPRequest(method: "GET", target: "/"),
        to: server.origin,
        deadline: .distantFuture
      )
    }
  }
}

extension Result<HTTPResponse, HTTPTransportError> {
  fileprivate var reason: String {
    if case .failure(let error) = self { error.reason } else { "a response" }
  }
}
