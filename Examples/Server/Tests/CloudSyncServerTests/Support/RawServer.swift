import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A server on loopback that answers each connection's first request with the bytes that a test wants, and closes it.
final class RawServer: Sendable {
  let port: Int
  private let socketNumber: Int32
  private let requests = Box<[String]>([])

  var origin: String { "http://127.0.0.1:\(port)" }
  /// The heads of the requests that have come.
  var heads: [String] { requests.value }

  /// Starts it.
  ///
  /// - Parameters:
  ///   - isEndless: Whether points follow those bytes until the client goes.
  ///   - answer: The bytes for a request; none closes the connection without a word.
  /// - Throws: That no socket can be had.
  init(isEndless: Bool = false, _ answer: @escaping @Sendable () -> String) throws {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, length) == 0 && listen(number, 16) == 0
          && getsockname(number, $0, &length) == 0
      }
    }
    guard isBound else {
      close(number)
      throw TestFailure("no server: \(String(cString: strerror(errno)))")
    }
    socketNumber = number
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [requests] in
      while case let connection = accept(number, nil, nil), connection >= 0 {
        let head = Self.head(of: connection)
        requests.change { $0.append(head) }
        let bytes = Array(answer().utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        while isEndless, send(connection, ".", 1, Int32(MSG_NOSIGNAL)) > 0 {}
        shutdown(connection, Int32(SHUT_RDWR))
        close(connection)
      }
      close(number)
    }
  }

  // What waits for connections ends.
  deinit { shutdown(socketNumber, Int32(SHUT_RDWR)) }

  /// The request up to its body, and the body that it promises, which is read and left.
  private static func head(of connection: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = String(text[..<end.lowerBound])
        let promised = head.lowercased().firstMatch(of: /content-length: (\d+)/)
        let missing = Int(promised?.1 ?? "0") ?? 0
        if text[end.upperBound...].utf8.count >= missing { return head }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
