import CloudSyncCore

/// Reads JSON where it lies: members in any order, those that nobody knows skipped.
///
/// Whatever the bytes are, reading costs an error at most: nesting is bounded, and nothing is allocated
/// for a length that is only promised.
package struct JSONReader {
  let bytes: [UInt8]
  var index = 0
  private var depth = 0
  private let deepest: Int

  /// How deeply values may nest by default: no message of the API comes near.
  package static let usualDepth = 16

  package init(_ bytes: [UInt8], deepest: Int = usualDepth) {
    self.bytes = bytes
    self.deepest = deepest
  }

  package func failure(_ reason: String) -> WireError { WireError(reason, at: index) }

  /// The error of a message that asks for more than one request may.
  package func excess(_ reason: String) -> WireError {
    WireError(reason, at: index, isTooMuch: true)
  }

  // MARK: Tokens

  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  @inline(__always)
  mutating func skipSpace() {
    while index < bytes.count, bytes[index] <= 0x20,
      bytes[index] == 0x20 || bytes[index] == 0x0a || bytes[index] == 0x0d || bytes[index] == 0x09
    {
      index += 1
    }
  }

  /// Skips a byte, with the white space before it, if it is the next.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws(WireError) {
    guard skip(byte) else { throw failure("“\(Character(Unicode.Scalar(byte)))” is missing") }
  }

  /// Checks that nothing follows the value.
  package mutating func end() throws(WireError) {
    skipSpace()
    guard index == bytes.count else { throw failure("there is more behind the value") }
  }

  // MARK: Containers

  /// Reads what is between two brackets.
  private mutating func enclosed(
    in brackets: (first: UInt8, last: UInt8),
    _ element: (inout JSONReader) throws(WireError) -> Void
  ) throws(WireError) {
    try expect(brackets.first)
    depth += 1
    guard depth <= deepest else { throw failure("values nest more than \(deepest) deep") }
    if !skip(brackets.last) {
      repeat { try element(&self) } while skip(UInt8(ascii: ","))
      try expect(brackets.last)
    }
    depth -= 1
  }

  private static let braces = (first: UInt8(ascii: "{"), last: UInt8(ascii: "}"))
  private static let brackets = (first: UInt8(ascii: "["), last: UInt8(ascii: "]"))

  /// Reads an object.
  ///
  /// - Parameter member: Is given the name of each member, and must read or skip its value.
  /// - Throws: What is wrong with the bytes.
  package mutating func object(
    _ member: (inout JSONReader, String) throws(WireError) -> Void
  ) throws(WireError) {
    try enclosed(in: Self.braces) { (reader) throws(WireError) in
      let name = try reader.string()
      try reader.expect(UInt8(ascii: ":"))
      try member(&reader, name)
    }
  }

  /// Reads an array.
  ///
  /// - Parameter element: Must read or skip one element.
  /// - Throws: What is wrong with the bytes.
  package mutating func array(
    _ element: (inout JSONReader) throws(WireError) -> Void
  ) throws(WireError) { try enclosed(in: Self.brackets, element) }

  /// Reads a value whose meaning may be wrong, which concerns nothing behind it: the reader goes on there in any case.
  ///
  /// - Parameter read: Reads the value.
  /// - Returns: The value, or what is wrong with it.
  /// - Throws: What is wrong with the bytes, if it cannot be told where the value ends.
  package mutating func apart<Value>(
    _ read: (inout JSONReader) throws(WireError) -> Value
  ) throws(WireError) -> Result<Value, WireError> {
    let start = self
    do throws(WireError) { return .success(try read(&self)) } catch {
      self = start
      try skipValue()
      return .failure(error)
    }
  }

  /// Skips a value, and returns a reader of it: what it means may depend on what follows.
  package mutating func deferred() throws(WireError) -> JSONReader {
    skipSpace()
    let reader = self
    try skipValue()
    return reader
  }

  /// Skips a value, whatever it is.
  package mutating func skipValue() throws(WireError) {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): try skipObject()
    case UInt8(ascii: "["):
      try array { (reader) throws(WireError) in try reader.skipValue() }
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: _ = try number()
    }
  }

  /// Skips an object, without a text for each name.
  private mutating func skipObject() throws(WireError) {
    try enclosed(in: Self.braces) { (reader) throws(WireError) in
      try reader.skipString()
      try reader.expect(UInt8(ascii: ":"))
      try reader.skipValue()
    }
  }

  // MARK: Scalars

  private mutating func word(_ word: StaticString) throws(WireError) {
    let count = word.utf8CodeUnitCount
    guard index + count <= bytes.count else { throw failure("a value is missing") }
    for offset in 0..<count where bytes[index + offset] != word.utf8Start[offset] {
      throw failure("a value is missing")
    }
    index += count
  }

  /// Skips a null, if the value is one.
  package mutating func isNull() throws(WireError) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  package mutating func bool() throws(WireError) -> Bool {
    skipSpace()
    let value = next == UInt8(ascii: "t")
    if value { try word("true") } else { try word("false") }
    return value
  }

  /// Whether the value is in quotes.
  package mutating func isString() -> Bool {
    skipSpace()
    return next == UInt8(ascii: "\"")
  }

  /// Whether the value is an array.
  package mutating func isArray() -> Bool {
    skipSpace()
    return next == UInt8(ascii: "[")
  }

  /// Reads a number as it is written.
  mutating func number() throws(WireError) -> String {
    skipSpace()
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let isZero = next == UInt8(ascii: "0")
    let count = digits()
    guard count > 0 else { throw failure("a value is missing") }
    if isZero, count > 1 { throw failure("a number begins with zeros") }
    if next == UInt8(ascii: ".") {
      index += 1
      guard digits() > 0 else { throw failure("digits are missing behind the point") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      index += 1
      if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
      guard digits() > 0 else { throw failure("digits are missing in the exponent") }
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func digits() -> Int {
    let start = index
    while let byte = next, byte &- 0x30 < 10 { index += 1 }
    return index - start
  }

  /// Reads a number, or text that is one, as it is written.
  package mutating func numberText() throws(WireError) -> String {
    isString() ? try string() : try number()
  }

  /// Reads a whole number, in quotes or not; every digit counts.
  package mutating func int64() throws(WireError) -> Int64 {
    let text = try numberText()
    if let value = Int64(text) { return value }
    guard let value = WireDecimal(text)?.whole else {
      throw failure("\(text.prefix(40)) is no whole number of 64 bits")
    }
    return value
  }
}
