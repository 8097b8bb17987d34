/// The checksum of IEEE 802.3, as in zip files: it finds torn and flipped bytes.
package enum CRC32 {
  /// Four tables, so that four bytes are taken at once.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 4 * 256)
    for index in 0..<256 {
      var value = UInt32(index)
      for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
      tables[index] = value
    }
    for index in 256..<4 * 256 {
      let before = tables[index - 256]
      tables[index] = tables[Int(before & 0xff)] ^ (before >> 8)
    }
    return tables
  }()

  package static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      bytes.withUnsafeBufferPointer { bytes in
        var sum: UInt32 = 0xffff_ffff
        var index = 0
        while index + 4 <= bytes.count {
          sum ^=
            UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8
            | UInt32(bytes[index + 2]) << 16 | UInt32(bytes[index + 3]) << 24
          sum =
            tables[768 + Int(sum & 0xff)] ^ tables[512 + Int((sum >> 8) & 0xff)]
            ^ tables[256 + Int((sum >> 16) & 0xff)] ^ tables[Int(sum >> 24)]
          index += 4
        }
        while index < bytes.count {
          sum = tables[Int((sum ^ UInt32(bytes[index])) & 0xff)] ^ (sum >> 8)
          index += 1
        }
        return ~sum
      }
    }
  }
}
