import CloudSyncCore

extension JSONReader {
  /// Reads text.
  package mutating func string() throws(WireError) -> String {
    skipSpace()
    let start = index + 1
    // Most text has no escapes; it is found and taken in one go.
    let plain: (text: String?, end: Int)? = bytes.withUnsafeBytes { bytes in
      guard start < bytes.count, bytes[start - 1] == UInt8(ascii: "\"") else { return nil }
      let end = PlainText.end(in: bytes, from: start)
      guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
      return (UTF8Bytes.text(UnsafeRawBufferPointer(rebasing: bytes[start..<end])), end)
    }
    let text: String?
    if let plain {
      index = plain.end + 1
      text = plain.text
    } else {
      let place = try skipQuotes()
      let bytes = try unescaped(from: place.start, to: place.end)
      text = bytes.withUnsafeBytes { UTF8Bytes.text($0) }
    }
    guard let text else { throw WireError("the text is not UTF-8", at: start) }
    return text
  }

  mutating func skipString() throws(WireError) { _ = try skipQuotes() }

  /// Goes behind the closing quote; tells where the text lies.
  private mutating func skipQuotes() throws(WireError) -> (start: Int, end: Int) {
    skipSpace()
    guard next == UInt8(ascii: "\"") else { throw failure("text in quotes is missing") }
    index += 1
    let start = index
    while index < bytes.count {
      index = bytes.withUnsafeBytes { PlainText.end(in: $0, from: index) }
      if index == bytes.count { break }
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index += 1
        return (start, index - 1)
      case UInt8(ascii: "\\"): index += 2
      default: throw failure("a control character is not escaped")
      }
    }
    index = min(index, bytes.count)
    throw failure("the text ends within quotes")
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
