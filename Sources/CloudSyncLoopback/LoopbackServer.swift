import CloudSyncCore
import CloudSyncService
import Foundation

/// Just enough of an HTTP server to serve a function on this machine, one request a connection.
///
/// It answers on threads of its own, so that no response waits for other tests to let go of Swift's.
/// On Linux a request of Foundation's uses a whole core for as long as it waits.
final class LoopbackServer: Sendable {
  let port: UInt16
  private let socketNumber: Int32

  var origin: String { "http://127.0.0.1:\(port)" }

  /// What answers a request, on the calling thread.
  typealias Responder = @Sendable (HTTPRequest, @escaping @Sendable (HTTPResponse) -> Void) -> Void

  convenience init(_ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws {
    try self.init(responder: { request, completion in completion(respond(request)) })
  }

  init(responder: @escaping Responder) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw LoopbackError() }
    socketNumber = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let name = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard name else { throw LoopbackError() }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          // Here, where nobody accepts by the number any more: another server may get it now.
          close(listener)
          return
        }
        Thread.detachNewThread { Self.serve(connection, responder) }
      }
    }
  }

  deinit {
    // Wakes the thread that accepts.
    shutdown(socketNumber, Int32(SHUT_RDWR))
  }

  private struct LoopbackError: Error {}

  private static func serve(_ connection: Int32, _ respond: Responder) {
    guard let request = request(from: connection) else {
      close(connection)
      return
    }
    respond(request) { response in
      var head = "HTTP/1.1 \(response.status) -\r\nConnection: close\r\n"
      for header in response.headers.all { head += "\(header.name): \(header.value)\r\n" }
      head += "Content-Length: \(response.body.count)\r\n\r\n"
      let bytes = Array(head.utf8) + response.body
      // A client that has gone is none of our business.
      _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      close(connection)
    }
  }

  private static func request(from connection: Int32) -> HTTPRequest? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    let end = Array("\r\n\r\n".utf8)
    var headEnd: Int?
    while true {
      if headEnd == nil { headEnd = bytes.firstRange(of: end)?.upperBound }
      if let headEnd {
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self)
          .components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        var request = HTTPRequest(method: words[0], target: words[1])
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
          if parts.count == 2 {
            request.headers[parts[0]] = parts[1].trimmingCharacters(in: .whitespaces)
          }
        }
        let count = Int(request.headers["Content-Length"] ?? "0") ?? 0
        if bytes.count >= headEnd + count {
          request.body = Array(bytes[headEnd..<headEnd + count])
          return request
        }
      }
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }
}
