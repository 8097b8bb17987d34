import CloudSyncSQLiteSupport

/// UUIDs that are computed from what they name.
struct DerivedUUID {
  /// What makes the UUIDs of a database its own.
  let salt: String
  /// SHA-256.
  let digest: ([UInt8]) -> [UInt8]

  /// The UUID of a row that had a key.
  func text(table: String, key: String) -> String { text(of: "\(table):\(key):\(salt)") }

  /// The UUID of a row that had none, by its number.
  func text(table: String, row: Int64) -> String { text(of: "\(table):row \(row):\(salt)") }

  /// A UUID of version 8 (RFC 9562) in small letters: the first bits of the SHA-256 of a text.
  private func text(of name: String) -> String {
    var bytes = Array(digest(Array(name.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x80
    bytes[8] = bytes[8] & 0x3f | 0x80
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      .map { Hexadecimal.text(of: bytes[$0]) }
      .joined(separator: "-")
  }
}
