/// The stretches of a text that JSON writes as they are.
package enum PlainText {
  /// Where the first byte is that has to be escaped: a quote, a backslash or a control character.
  ///
  /// - Returns: Its place, or the count if there is none.
  @inline(__always)
  package static func end(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    // Eight bytes at a time: nearly all text is plain.
    while index + 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if hasSpecial(in: word) { break }
      index += 8
    }
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      index += 1
    }
    return index
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Whether one of eight bytes may have to be escaped; it may be wrong only in saying yes.
  @inline(__always)
  private static func hasSpecial(in word: UInt64) -> Bool {
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let small = (word &- ones &* 0x20) & ~word
    let found = small | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
    return found & highs != 0
  }
}
