#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Writes coded values as JSON text on one line, after what is in its buffer already.
///
/// Fields stand in the order in which the values write them, those without a value are left out, and
/// there is no white space: the same value gives the same bytes on every machine. Numbers are
/// decimal, also those of 64 bits; a double that is not finite is text, `bits:` and its 16
/// hexadecimal digits; data are base64.
package struct LineWriter: CodedWriter {
  private var buffer = LineBuffer()
  /// What hides values, if anything does.
  private let redactor: (any LineRedactor)?
  /// Whether a comma is due before the next element.
  private var isFirst = true
  /// Whether an array is being written, which has no keys before its values.
  ///
  /// A bit for each value that is open, the innermost one lowest: nothing nests deeper than 64.
  private var arrays: UInt64 = 0
  private var pendingKey: StaticString?
  /// The values of shared fields that were written last on this line, by name.
  private var shared: [(name: StaticString, value: any CodedValue)] = []

  package static var isCompact: Bool { true }

  package init(redactor: (any LineRedactor)? = nil) { self.redactor = redactor }

  /// How many bytes have been written.
  package var count: Int { buffer.count }

  /// A copy of what has been written.
  package var bytes: [UInt8] { buffer.withBytes { Array($0) } }

  /// What has been written, in place.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    buffer.withBytes(body)
  }

  package mutating func removeAll() {
    buffer.removeAll()
    isFirst = true
    arrays = 0
    pendingKey = nil
    shared.removeAll(keepingCapacity: true)
  }

  /// Begins a line: nothing separates it from what is there.
  package mutating func beginLine() {
    buffer.makeUnique()
    isFirst = true
    shared.removeAll(keepingCapacity: true)
  }

  package mutating func endLine() { buffer.append(UInt8(ascii: "\n")) }

  /// What has to stand before a value: comma, and key if there is one.
  @inline(__always)
  private mutating func separate() {
    if let key = pendingKey {
      buffer.append(key: key, afterComma: !isFirst)
      pendingKey = nil
    } else if !isFirst {
      buffer.append(UInt8(ascii: ","))
    }
    isFirst = false
  }

  package mutating func beginObject() {
    separate()
    buffer.append(UInt8(ascii: "{"))
    arrays <<= 1
    isFirst = true
  }

  package mutating func endObject() {
    buffer.append(UInt8(ascii: "}"))
    arrays >>= 1
    isFirst = false
  }

  package mutating func key(_ name: StaticString) { pendingKey = name }

  package mutating func sharedField<T: CodedValue>(_ name: StaticString, _ value: T) {
    let place = shared.firstIndex { $0.name.isSame(as: name) }
    if let place {
      if let last = shared[place].value as? T, last == value { return }
      shared[place].value = value
    } else {
      shared.append((name, value))
    }
    key(name)
    value.write(to: &self)
  }

  package func lastShared<T: CodedValue>(_ name: StaticString) -> T? {
    shared.first { $0.name.isSame(as: name) }?.value as? T
  }

  package mutating func beginArray(count: Int) {
    separate()
    buffer.append(UInt8(ascii: "["))
    arrays = arrays << 1 | 1
    isFirst = true
  }

  package mutating func endArray() {
    buffer.append(UInt8(ascii: "]"))
    arrays >>= 1
    isFirst = false
  }

  package mutating func tag(_ index: Int, of names: [StaticString]) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    buffer.append(names[index])
    buffer.append(UInt8(ascii: "\""))
  }

  package mutating func writeNil() {
    // A field without a value is left out; an element of an array cannot be.
    if arrays & 1 == 1 {
      separate()
      buffer.append("null")
    } else {
      pendingKey = nil
    }
  }

  package mutating func writePresent() {}

  package mutating func write(_ value: Bool) {
    separate()
    buffer.append(value ? "true" : "false")
  }

  package mutating func write(_ value: Int64) {
    separate()
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    buffer.append(decimal: value.magnitude)
  }

  package mutating func write(_ value: UInt64) {
    separate()
    buffer.append(decimal: value)
  }

  package mutating func write(_ value: Double) {
    separate()
    if value.isFinite {
      UTF8Bytes.with(value.description) { buffer.append($0) }
    } else {
      let digits = String(value.bitPattern, radix: 16)
      let zeros = String(repeating: "0", count: 16 - digits.utf8.count)
      UTF8Bytes.with("\"bits:\(zeros)\(digits)\"") { buffer.append($0) }
    }
  }

  package mutating func write(_ value: String) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    UTF8Bytes.with(value) { appendEscaped($0) }
    buffer.append(UInt8(ascii: "\""))
  }

  package mutating func write(_ value: Data) {
    separate()
    buffer.append(UInt8(ascii: "\""))
    value.base64EncodedData().withUnsafeBytes { buffer.append($0) }
    buffer.append(UInt8(ascii: "\""))
  }

  /// Appends text with what JSON, and a page that embeds it, cannot hold as it is written as escapes.
  private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
    var plain = 0
    while true {
      let end = PlainText.end(in: text, from: plain)
      buffer.append(UnsafeRawBufferPointer(rebasing: text[plain..<end]))
      guard end < text.count else { return }
      appendEscape(of: text[end])
      plain = end + 1
    }
  }

  private mutating func appendEscape(of byte: UInt8) {
    buffer.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): buffer.append(byte)
    case 0x0a: buffer.append(UInt8(ascii: "n"))
    case 0x0d: buffer.append(UInt8(ascii: "r"))
    case 0x09: buffer.append(UInt8(ascii: "t"))
    default:
      buffer.append(byte < 0x10 ? "u000" : "u001")
      UTF8Bytes.with(String(byte & 0xf, radix: 16)) { buffer.append($0) }
    }
  }

  // MARK: Hiding

  package func disclosed<Value: RedactableValue>(_ value: Value, of field: String) -> Value {
    // Field values are the only ones: once compiled for them, the casts cost nothing.
    guard let redactor, let known = value as? FieldValue else { return value }
    return redactor.value(known, of: field) as? Value ?? value.skeleton
  }

  package func disclosed(_ text: String, as part: PrivatePart) -> String {
    redactor.map { $0.text(text, as: part) } ?? text
  }

  package func disclosed(_ bytes: Data, as part: PrivatePart) -> Data {
    redactor.map { $0.bytes(bytes, as: part) } ?? bytes
  }
}

/// What hides values from the lines that are written.
package protocol LineRedactor: Sendable {
  /// The value to write in place of a field's.
  func value(_ value: FieldValue, of field: String) -> FieldValue
  /// The text to write in place of one that tells about the user.
  func text(_ text: String, as part: PrivatePart) -> String
  /// The bytes to write in place of some that tell about the user.
  func bytes(_ bytes: Data, as part: PrivatePart) -> Data
}

extension StaticString {
  /// Whether two names are the same: one name may lie in several places.
  func isSame(as other: StaticString) -> Bool {
    utf8Start == other.utf8Start
      || UTF8Bytes.equal(
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount),
        UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
      )
  }
}
