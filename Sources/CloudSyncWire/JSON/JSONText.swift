/// Text within quotes.
enum JSONText {
  /// The place of the first byte that does not stand for itself: a quote, a backslash or a control character.
  @inline(__always)
  static func endOfPlain(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var place = start
    // Most text has none of them: eight bytes are asked at once.
    while place + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if hasSpecial(word) { break }
      place += 8
    }
    while place < bytes.count {
      let byte = bytes[place]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      place += 1
    }
    return place
  }

  /// Whether any of eight bytes is a quote, a backslash or a control character.
  ///
  /// A byte less than n leaves its highest bit set when n is subtracted, unless it was set before; a byte
  /// equals another if their difference by bits is less than one.
  @inline(__always)
  private static func hasSpecial(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5c)
    let less =
      ((word &- ones &* 0x20) & ~word) | ((quotes &- ones) & ~quotes)
      | ((backslashes &- ones) & ~backslashes)
    return less & (ones &* 0x80) != 0
  }
}
