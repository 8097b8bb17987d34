package import CloudSyncWire
import Foundation

/// Just enough of an HTTP server to serve a function on this machine, one request a connection: for tests and
/// demonstrations.
///
/// It answers on threads of its own, so that no response waits for others to let go of Swift's.
package final class LoopbackServer: Sendable {
  package let port: UInt16
  private let socketNumber: Int32

  package var origin: String { "http://127.0.0.1:\(port)" }

  /// What answers a request, on the calling thread; nil closes the connection without a word.
  package typealias Responder =
    @Sendable (HTTPRequest, _ completion: @escaping @Sendable (HTTPResponse?) -> Void) -> Void

  /// Why there is no server.
  package struct Failure: Error {}

  /// Serves a function.
  package convenience init(
    _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws(Failure) {
    try self.init(responder: { request, completion in completion(respond(request)) })
  }

  /// Serves what answers later.
  package init(responder: @escaping Responder) throws(Failure) {
    #if canImport(Darwin)
    let listener = socket(AF_INET, SOCK_STREAM, 0)
    #else
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard listener >= 0 else { throw Failure() }
    socketNumber = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else {
      close(listener)
      throw Failure()
    }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { Self.takeConnections(from: listener, responder) }
  }

  deinit {
    // Wakes the thread that accepts.
    shutdown(socketNumber, Int32(SHUT_RDWR))
  }

  private static func takeConnections(from listener: Int32, _ respond: @escaping Responder) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else {
        // Here, where nobody accepts by the number any more: another server may get it now.
        close(listener)
        return
      }
      #if canImport(Darwin)
      var isOn: Int32 = 1
      let length = socklen_t(MemoryLayout<Int32>.size)
      setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, length)
      #endif
      Thread.detachNewThread { serve(connection, respond) }
    }
  }

  private static func serve(_ connection: Int32, _ respond: Responder) {
    guard let request = request(from: connection) else {
      close(connection)
      return
    }
    respond(request) { response in
      if let response {
        var head = "HTTP/1.1 \(response.status) -\r\nConnection: close\r\n"
        for header in response.headers.all { head += "\(header.name): \(header.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\n\r\n"
        write(Array(head.utf8) + response.body, to: connection)
      }
      close(connection)
    }
  }

  /// Writes bytes; a client that has gone is none of our business.
  private static func write(_ bytes: [UInt8], to connection: Int32) {
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    var start = 0
    while start < bytes.count {
      let count = bytes[start...]
        .withUnsafeBytes {
          send(connection, $0.baseAddress, $0.count, flags)
        }
      guard count > 0 else { return }
      start += count
    }
  }

  private static func request(from connection: Int32) -> HTTPRequest? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    let end = Array("\r\n\r\n".utf8)
    var headEnd: Int?
    while true {
      if headEnd == nil { headEnd = bytes.firstRange(of: end)?.upperBound }
      if let headEnd, var request = head(bytes[..<headEnd]) {
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

  private static func head(_ bytes: ArraySlice<UInt8>) -> HTTPRequest? {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    guard let first = lines.first else { return nil }
    let words = first.split(separator: " ").map(String.init)
    guard words.count >= 2 else { return nil }
    var request = HTTPRequest(method: words[0], target: words[1])
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      if parts.count == 2 {
        request.headers[parts[0]] = String(parts[1].drop { $0 == " " })
      }
    }
    return request
  }
}
