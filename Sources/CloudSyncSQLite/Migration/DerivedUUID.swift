import CloudSyncCore

/// UUIDs that are computed from what they name.
enum DerivedUUID {
  /// The UUID of a row that had a key.
  static func text(table: String, key: String, salt: String) -> String {
    text(of: "\(table):\(key):\(salt)")
  }

  /// The UUID of a row that had none, by its number.
  static func text(table: String, row: Int64, salt: String) -> String {
    text(of: "\(table):row \(row):\(salt)")
  }

  /// A UUID of version 8 (RFC 9562) in small letters: the first bits of the SHA-256 of a text.
  private static func text(of name: String) -> String {
    var bytes = Array(SHA256.digest(of: Array(name.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x80
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
