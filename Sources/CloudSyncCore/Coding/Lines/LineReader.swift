#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads coded values from one line of JSON text.
///
/// It reads what ``LineWriter`` writes, white space between tokens excepted, which it skips: fields in
/// their order, none that it does not know. Whatever else is in the bytes is an error that names the
/// column.
package struct LineReader: CodedReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0
  /// Whether a value stands where a key was looked for.
  private var isFirst = true
  /// Whether the next value is an element of an array.
  ///
  /// A bit for each value that is open, the innermost one lowest.
  private var arrays: UInt64 = 0
  private var depth = 0
  private var isAbsent = false
  /// The values of shared fields that were read last, by name.
  private var shared: [(name: StaticString, value: any CodedValue)] = []
  /// Deeper nesting than this is not read: no value of a session has it.
  private static let deepest = 64

  package static var isCompact: Bool { true }

  /// Prepares to read a line, which must stay where it is meanwhile.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  // MARK: Structure

  package func failure(_ reason: String) -> CodedError { failure(reason, at: index) }

  private func failure(_ reason: String, at position: Int) -> CodedError {
    CodedError(place: "column \(position + 1)", reason: reason)
  }

  @inline(__always)
  private mutating func skipSpace() {
    // There is none in a log that nobody has edited.
    if index < bytes.count, bytes[index] <= UInt8(ascii: " ") { skipSomeSpace() }
  }

  @inline(never)
  private mutating func skipSomeSpace() {
    while index < bytes.count,
      bytes[index] == UInt8(ascii: " ") || bytes[index] == 0x09 || bytes[index] == 0x0d
    {
      index += 1
    }
  }

  @inline(__always)
  private mutating func expect(_ byte: UInt8) throws(CodedError) {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte else { throw missing(byte) }
    index += 1
  }

  @inline(never)
  private func missing(_ byte: UInt8) -> CodedError {
    failure("“\(Character(Unicode.Scalar(byte)))” is missing")
  }

  private mutating func open(isArray: Bool) throws(CodedError) {
    guard depth < Self.deepest else { throw failure("nesting is too deep") }
    depth += 1
    arrays = arrays << 1 | (isArray ? 1 : 0)
    isFirst = true
  }

  private mutating func close() {
    depth -= 1
    arrays >>= 1
    isFirst = false
  }

  /// Whether nothing but white space is left.
  package mutating func isAtEnd() -> Bool {
    skipSpace()
    return index == bytes.count
  }

  /// What stands between an element of an array and the one before it.
  @inline(__always)
  private mutating func beginElement() throws(CodedError) {
    if isAbsent { throw failure("a field is missing") }
    guard arrays & 1 == 1 else { return }
    if isFirst { isFirst = false } else { try expect(UInt8(ascii: ",")) }
  }

  package mutating func beginObject() throws(CodedError) {
    try beginElement()
    try expect(UInt8(ascii: "{"))
    try open(isArray: false)
  }

  package mutating func endObject() throws(CodedError) {
    isAbsent = false
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: "}") else {
      throw failure("a field is unknown or not in its place")
    }
    index += 1
    close()
  }

  package mutating func key(_ name: StaticString) throws(CodedError) {
    if isAbsent { throw failure("a field is missing before “\(name)”") }
    let start = index
    skipSpace()
    if !isFirst {
      guard index < bytes.count, bytes[index] == UInt8(ascii: ",") else {
        return missKey(start: start)
      }
      index += 1
      skipSpace()
    }
    let count = name.utf8CodeUnitCount
    guard index + count + 2 <= bytes.count, bytes[index] == UInt8(ascii: "\""),
      bytes[index + count + 1] == UInt8(ascii: "\"")
    else { return missKey(start: start) }
    for offset in 0..<count where bytes[index + 1 + offset] != name.utf8Start[offset] {
      return missKey(start: start)
    }
    index += count + 2
    try expect(UInt8(ascii: ":"))
    isFirst = false
  }

  package mutating func sharedField<T: CodedValue>(
    _ name: StaticString
  ) throws(CodedError) -> T {
    try key(name)
    let place = shared.firstIndex { $0.name.isSame(as: name) }
    if isAbsent, let place, let value = shared[place].value as? T {
      isAbsent = false
      return value
    }
    let value = try T(from: &self)
    if let place { shared[place].value = value } else { shared.append((name, value)) }
    return value
  }

  /// The field is not there: fine if it is optional.
  private mutating func missKey(start: Int) {
    index = start
    isAbsent = true
  }

  package mutating func beginArray() throws(CodedError) -> Int? {
    try beginElement()
    try expect(UInt8(ascii: "["))
    try open(isArray: true)
    return nil
  }

  package mutating func hasElement(at position: Int, of count: Int?) -> Bool {
    skipSpace()
    return index >= bytes.count || bytes[index] != UInt8(ascii: "]")
  }

  package mutating func endArray() throws(CodedError) {
    try expect(UInt8(ascii: "]"))
    close()
  }

  package mutating func readPresent() throws(CodedError) -> Bool {
    if isAbsent {
      isAbsent = false
      return false
    }
    guard arrays & 1 == 1 else { return true }
    // In an array the absent value is written.
    skipSpace()
    let start = index
    if !isFirst, index < bytes.count, bytes[index] == UInt8(ascii: ",") { index += 1 }
    skipSpace()
    guard matches("null") else {
      index = start
      return true
    }
    index += 4
    isFirst = false
    return false
  }

  // MARK: Scalars

  private func matches(_ word: StaticString) -> Bool {
    guard index + word.utf8CodeUnitCount <= bytes.count else { return false }
    for offset in 0..<word.utf8CodeUnitCount where bytes[index + offset] != word.utf8Start[offset] {
      return false
    }
    return true
  }

  package mutating func tag(of names: [StaticString]) throws(CodedError) -> Int {
    try beginElement()
    try expect(UInt8(ascii: "\""))
    for (place, name) in names.enumerated() {
      let end = index + name.utf8CodeUnitCount
      if end < bytes.count, bytes[end] == UInt8(ascii: "\""), matches(name) {
        index = end + 1
        return place
      }
    }
    throw failure("the name is not one of \(names.map { "\($0)" }.joined(separator: ", "))")
  }

  package mutating func readBool() throws(CodedError) -> Bool {
    try beginElement()
    skipSpace()
    if matches("true") {
      index += 4
      return true
    }
    guard matches("false") else { throw failure("“true” or “false” is missing") }
    index += 5
    return false
  }

  package mutating func readInt64() throws(CodedError) -> Int64 {
    try beginElement()
    skipSpace()
    let isNegative = index < bytes.count && bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    let magnitude = try readDigits()
    if isNegative, magnitude == Int64.min.magnitude { return .min }
    guard let value = Int64(exactly: magnitude) else { throw failure("the number is too large") }
    return isNegative ? -value : value
  }

  package mutating func readUInt64() throws(CodedError) -> UInt64 {
    try beginElement()
    skipSpace()
    return try readDigits()
  }

  private mutating func readDigits() throws(CodedError) -> UInt64 {
    let start = index
    var value: UInt64 = 0
    while index < bytes.count, case let digit = bytes[index] &- UInt8(ascii: "0"), digit < 10 {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.addingReportingOverflow(UInt64(digit))
      if overflow || overflow2 { throw failure("the number is too large") }
      value = sum
      index += 1
    }
    if index == start { throw failure("a whole number is missing") }
    return value
  }

  package mutating func readDouble() throws(CodedError) -> Double {
    try beginElement()
    skipSpace()
    if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
      let text = try readText()
      guard text.utf8.count == 21, text.hasPrefix("bits:"),
        let bits = UInt64(text.dropFirst(5), radix: 16)
      else { throw failure("“\(text)” is not a number") }
      return Double(bitPattern: bits)
    }
    let start = index
    while index < bytes.count, Self.isNumeric(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let value = Double(text), value.isFinite else { throw failure("a number is missing") }
    return value
  }

  private static func isNumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  package mutating func readString() throws(CodedError) -> String {
    try beginElement()
    skipSpace()
    return try readText()
  }

  package mutating func readData() throws(CodedError) -> Data {
    try beginElement()
    skipSpace()
    let text = try readText()
    guard let data = Data(base64Encoded: text) else { throw failure("the text is not base64") }
    return data
  }

  private mutating func readText() throws(CodedError) -> String {
    try expect(UInt8(ascii: "\""))
    let start = index
    index = PlainText.end(in: UnsafeRawBufferPointer(bytes), from: start)
    guard index < bytes.count else { throw failure("the line ends within quotes") }
    if bytes[index] < 0x20 { throw failure("a control character is not escaped") }
    if bytes[index] == UInt8(ascii: "\"") {
      let slice = UnsafeBufferPointer(rebasing: bytes[start..<index])
      guard let text = UTF8Bytes.text(UnsafeRawBufferPointer(slice)) else {
        throw failure("the text is not UTF-8", at: start)
      }
      index += 1
      return text
    }
    return try readEscapedText(from: start)
  }

  private mutating func readEscapedText(from start: Int) throws(CodedError) -> String {
    var text = Array(bytes[start..<index])
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] == UInt8(ascii: "\\") {
        text.append(contentsOf: try readEscape())
      } else {
        if bytes[index] < 0x20 { throw failure("a control character is not escaped") }
        text.append(bytes[index])
        index += 1
      }
    }
    guard index < bytes.count else { throw failure("the line ends within quotes") }
    index += 1
    guard let result = text.withUnsafeBytes({ UTF8Bytes.text($0) }) else {
      throw failure("the text is not UTF-8", at: start)
    }
    return result
  }

  private mutating func readEscape() throws(CodedError) -> [UInt8] {
    guard index + 1 < bytes.count else { throw failure("the line ends within quotes") }
    let kind = bytes[index + 1]
    index += 2
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
    case UInt8(ascii: "n"): return [0x0a]
    case UInt8(ascii: "r"): return [0x0d]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0c]
    case UInt8(ascii: "u"): return try readUnicodeEscape()
    default: throw failure("the escape is unknown", at: index - 1)
    }
  }

  private mutating func readUnicodeEscape() throws(CodedError) -> [UInt8] {
    var units = [try readCodeUnit()]
    if UTF16.isLeadSurrogate(units[0]), index + 1 < bytes.count,
      bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
    {
      index += 2
      units.append(try readCodeUnit())
    }
    let text = String(decoding: units, as: UTF16.self)
    guard Array(text.utf16) == units else { throw failure("the escape is half a character") }
    return Array(text.utf8)
  }

  private mutating func readCodeUnit() throws(CodedError) -> UInt16 {
    guard index + 4 <= bytes.count,
      let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
    else { throw failure("an escape needs four hexadecimal digits") }
    index += 4
    return unit
  }
}
