import CloudSyncCore

extension JSONReader {
  /// Reads text.
  package mutating func string() throws(WireError) -> String {
    let (start, end, isPlain) = try skipQuotes()
    let text =
      if isPlain {
        bytes[start..<end].withUnsafeBytes { UTF8Bytes.text($0) }
      } else {
        try unescaped(from: start, to: end).withUnsafeBytes { UTF8Bytes.text($0) }
      }
    guard let text else { throw WireError("the text is not UTF-8", at: start) }
    return text
  }

  mutating func skipString() throws(WireError) { _ = try skipQuotes() }

  /// Goes behind the closing quote; tells where the text lies, and whether nothing in it is escaped.
  private mutating func skipQuotes() throws(WireError) -> (start: Int, end: Int, isPlain: Bool) {
    skipSpace()
    guard next == UInt8(ascii: "\"") else { throw failure("text in quotes is missing") }
    index += 1
    let start = index
    var isPlain = true
    while index < bytes.count {
      index = endOfPlainText(from: index)
      if index == bytes.count { break }
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index += 1
        return (start, index - 1, isPlain)
      case UInt8(ascii: "\\"):
        isPlain = false
        index += 2
      default: throw failure("a control character is not escaped")
      }
    }
    index = min(index, bytes.count)
    throw failure("the text ends within quotes")
  }

  /// The place of the first byte that does not stand for itself: a quote, a backslash or a control character.
  private func endOfPlainText(from start: Int) -> Int {
    bytes.withUnsafeBufferPointer { bytes in
      var place = start
      while place < bytes.count {
        let byte = bytes[place]
        if byte == 0x22 || byte == 0x5c || byte < 0x20 { break }
        place += 1
      }
      return place
    }
  }

  private func unescaped(from start: Int, to end: Int) throws(WireError) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(end - start)
    var index = start
    while index < end {
      guard bytes[index] == UInt8(ascii: "\\") else {
        text.append(bytes[index])
        index += 1
        continue
      }
      index += 2
      switch bytes[index - 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[index - 1])
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "n"): text.append(0x0a)
      case UInt8(ascii: "f"): text.append(0x0c)
      case UInt8(ascii: "r"): text.append(0x0d)
      case UInt8(ascii: "u"): text += Array(String(try scalar(at: &index, before: end)).utf8)
      default: throw WireError("an escape is unknown", at: index)
      }
    }
    return text
  }

  /// A character by its number, or by the two numbers that UTF-16 has for it.
  private func scalar(at index: inout Int, before end: Int) throws(WireError) -> Character {
    let high = try codeUnit(at: &index, before: end)
    var scalar = Unicode.Scalar(UInt32(high))
    if UTF16.isLeadSurrogate(high), index + 1 < end, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    {
      index += 2
      let low = try codeUnit(at: &index, before: end)
      if UTF16.isTrailSurrogate(low) { scalar = UTF16.decode(UTF16.EncodedScalar([high, low])) }
    }
    guard let scalar else { throw WireError("half a character is escaped", at: index) }
    return Character(scalar)
  }

  private func codeUnit(at index: inout Int, before end: Int) throws(WireError) -> UInt16 {
    guard index + 4 <= end else { throw WireError("four digits are missing", at: index) }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue,
        bytes[index] < 0x80
      else { throw WireError("four digits are missing", at: index) }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }
}
