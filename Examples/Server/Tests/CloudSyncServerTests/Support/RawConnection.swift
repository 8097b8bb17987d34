import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A connection on which a test says what it likes, as slowly as it likes.
final class RawConnection {
  /// What came back: nothing if the server has closed the connection without a word.
  struct Answer {
    var status = 0
    var head = ""
    var body = ""
  }

  private let socketNumber: Int32
  private var rest: [UInt8] = []

  init(port: Int, from address: UInt32 = 0x7f00_0001) throws {
    socketNumber = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socketNumber >= 0 else { throw TestFailure("no socket") }
    guard Self.call(socketNumber, address, 0, bind),
      Self.call(socketNumber, 0x7f00_0001, port, connect)
    else {
      close(socketNumber)
      throw TestFailure("no connection: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(socketNumber) }

  private static func call(
    _ socketNumber: Int32,
    _ host: UInt32,
    _ port: Int,
    _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = in_port_t(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(socketNumber, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Sends bytes; false if nobody takes them any more.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...]
        .withUnsafeBytes {
          Glibc.send(socketNumber, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
      if count <= 0 { return false }
      start += count
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends a request.
  func request(
    _ method: String,
    _ path: String,
    token: String? = nil,
    headers: [String] = [],
    body: String? = nil
  ) {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers
    if let token { lines.append("Authorization: Bearer \(token)") }
    if let body { lines.append("Content-Length: \(body.utf8.count)") }
    send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
  }

  /// Waits for a response.
  func answer() -> Answer {
    var answer = Answer()
    while true {
      if let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
        answer.head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        let lines = answer.head.components(separatedBy: "\r\n")
        answer.status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length =
          lines.first { $0.lowercased().hasPrefix("content-length:") }
          .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) } ?? 0
        if answer.status == 100 {
          rest.removeSubrange(..<end.upperBound)
          continue
        }
        if rest.count >= end.upperBound + length {
          answer.body = String(
            decoding: rest[end.upperBound..<end.upperBound + length],
            as: UTF8.self
          )
          rest.removeSubrange(..<(end.upperBound + length))
          return answer
        }
      }
      var piece = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socketNumber, &piece, piece.count, 0)
      guard count > 0 else { return answer }
      rest += piece[..<count]
    }
  }

  /// Waits until the server closes the connection.
  func waitForEnd() { while answer().status != 0 {} }
}

extension ServerProcess {
  static let base = "/database/1/cloudsync/production/private/"

  /// One request on a connection of its own.
  func ask(
    _ method: String,
    _ path: String,
    token: String? = nil,
    body: String? = nil,
    headers: [String] = []
  ) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: port)
    connection.request(method, path, token: token, headers: headers, body: body)
    return connection.answer()
  }

  func post(_ operation: String, _ body: String, token: String) throws -> RawConnection.Answer {
    try ask("POST", Self.base + operation, token: token, body: body)
  }

  /// What looks after the server gets from it.
  func admin(_ path: String) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: adminPort)
    connection.request("GET", path)
    return connection.answer()
  }
}
