import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Why a figure cannot be taken.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A connection that is kept, and does no more than it must: the server is what is measured.
final class BenchClient {
  let socketNumber: Int32
  private var bytes: [UInt8] = []
  private var piece = [UInt8](repeating: 0, count: 262_144)

  init(port: Int) throws {
    socketNumber = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
    let isOpen = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socketNumber, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isOpen else { throw BenchmarkFailure("no connection to port \(port)") }
    var isOn: Int32 = 1
    setsockopt(socketNumber, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, 4)
  }

  deinit { close(socketNumber) }

  static func request(
    _ method: String,
    _ path: String,
    token: String = "",
    writeToken: String? = nil,
    body: String = ""
  ) -> [UInt8] {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    if !token.isEmpty { head += "Authorization: Bearer \(token)\r\n" }
    if let writeToken { head += "X-CloudSync-Write-Token: \(writeToken)\r\n" }
    if !body.isEmpty { head += "Content-Length: \(body.utf8.count)\r\n" }
    return Array((head + "\r\n" + body).utf8)
  }

  func send(_ message: [UInt8]) throws {
    var start = 0
    while start < message.count {
      let count = message[start...]
        .withUnsafeBytes {
          Glibc.send(socketNumber, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
      guard count > 0 else { throw BenchmarkFailure("the connection was closed") }
      start += count
    }
  }

  /// Waits for a response, and returns its body; any status but 200 is an error.
  @discardableResult
  func answer() throws -> ArraySlice<UInt8> {
    bytes.removeAll(keepingCapacity: true)
    var end: Int?
    var length = 0
    while true {
      if end == nil, let range = bytes.firstRange(of: [13, 10, 13, 10]) {
        let head = String(decoding: bytes[..<range.lowerBound], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200") else {
          throw BenchmarkFailure(String(head.prefix { !$0.isNewline }))
        }
        let line = head.lowercased().split(separator: "\r\n")
          .first { $0.hasPrefix("content-length:") }
        length = line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        end = range.upperBound
      }
      if let end, bytes.count >= end + length { return bytes[end..<end + length] }
      let count = recv(socketNumber, &piece, piece.count, 0)
      guard count > 0 else { throw BenchmarkFailure("the connection was closed") }
      bytes += piece[..<count]
    }
  }

  @discardableResult
  func ask(_ message: [UInt8]) throws -> ArraySlice<UInt8> {
    try send(message)
    return try answer()
  }
}
