import CloudSyncCore
package import CloudSyncSQLiteSupport

/// How SQLite compares a column of a key.
package enum KeyCollation: String, Sendable, Hashable, Codable {
  case binary = "BINARY"
  /// ASCII letters are equal in both cases.
  case nocase = "NOCASE"
  /// Spaces at the end do not count.
  case rtrim = "RTRIM"

  /// The collation of a name, in either case; nil for those that an app has defined.
  package init?(name: String) { self.init(rawValue: name.uppercased()) }

  /// The one spelling of all values that are equal to this one.
  package func canonical(_ value: SQLiteValue) -> SQLiteValue {
    switch value {
    case .real(let number):
      // For a key SQLite holds 1 and 1.0 to be the same.
      Int64(exactly: number).map { .integer($0) } ?? value
    case .text(let text):
      self == .binary || UTF8Bytes.with(text) { isCanonical($0) }
        ? value : Self.text(of: canonical(Array(text.utf8)))
    case .malformedText(let bytes): Self.text(of: canonical(bytes))
    case .null, .integer, .blob: value
    }
  }

  private func isCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .binary: true
    case .nocase: !bytes.contains { $0 == 0 || Self.isUpper($0) }
    case .rtrim: bytes.last != 0x20
    }
  }

  private func canonical(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .binary: return bytes
    case .nocase:
      // Behind a NUL only the length is compared.
      let end = bytes.firstIndex(of: 0) ?? bytes.count
      return bytes[..<end].map { Self.isUpper($0) ? $0 | 0x20 : $0 }
        + Array(repeating: 0, count: bytes.count - end)
    case .rtrim:
      let end = bytes.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
      return Array(bytes[..<end])
    }
  }

  private static func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

  private static func text(of bytes: [UInt8]) -> SQLiteValue {
    bytes.withUnsafeBytes { UTF8Bytes.text($0) }.map { .text($0) } ?? .malformedText(bytes)
  }
}
