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
  package private(set) var bytes: [UInt8] = []
  /// What hides values, if anything does.
  private let redactor: (any LineRedactor)?
  /// Whether a comma is due before the next element.
  private var isFirst = true
  /// Whether an array is being written, which has no keys before its values.
  ///
  /// A bit for each value that is open, the innermost one lowest: nothing nests deeper than 64.
  private var arrays: UInt64 = 0
  private var pendingKey: StaticString?

  package init(redactor: (any LineRedactor)? = nil) { self.redactor = redactor }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isFirst = true
    arrays = 0
    pendingKey = nil
  }

  /// Begins a line: nothing separates it from what is there.
  package mutating func beginLine() { isFirst = true }

  package mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  /// What has to stand before a value: comma, and key if there is one.
  @inline(__always)
  private mutating func separate() {
    if let key = pendingKey {
      append(key, afterComma: !isFirst)
      pendingKey = nil
    } else if !isFirst {
      bytes.append(UInt8(ascii: ","))
    }
    isFirst = false
  }

  /// Appends a key in one go: there are more of them than of anything else.
  private mutating func append(_ key: StaticString, afterComma: Bool) {
    let count = key.utf8CodeUnitCount
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 4) { text in
      guard let base = text.baseAddress else { return }
      base[0] = UInt8(ascii: ",")
      base[1] = UInt8(ascii: "\"")
      (base + 2).update(from: key.utf8Start, count: count)
      base[count + 2] = UInt8(ascii: "\"")
      base[count + 3] = UInt8(ascii: ":")
      bytes.append(contentsOf: afterComma ? text[...] : text[1...])
    }
  }

  @inline(__always)
  private mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    )
  }

  package mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    arrays <<= 1
    isFirst = true
  }

  package mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    arrays >>= 1
    isFirst = false
  }

  package mutating func key(_ name: StaticString) { pendingKey = name }

  package mutating func beginArray(count: Int) {
    separate()
    bytes.append(UInt8(ascii: "["))
    arrays = arrays << 1 | 1
    isFirst = true
  }

  package mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    arrays >>= 1
    isFirst = false
  }

  package mutating func tag(_ index: Int, of names: [StaticString]) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(names[index])
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func writeNil() {
    // A field without a value is left out; an element of an array cannot be.
    if arrays & 1 == 1 {
      separate()
      append("null")
    } else {
      pendingKey = nil
    }
  }

  package mutating func writePresent() {}

  package mutating func write(_ value: Bool) {
    separate()
    append(value ? "true" : "false")
  }

  package mutating func write(_ value: Int64) {
    separate()
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    appendDigits(value.magnitude)
  }

  package mutating func write(_ value: UInt64) {
    separate()
    appendDigits(value)
  }

  package mutating func write(_ value: Double) {
    separate()
    if value.isFinite {
      bytes.append(contentsOf: value.description.utf8)
    } else {
      append("\"bits:")
      let digits = String(value.bitPattern, radix: 16)
      for _ in digits.utf8.count..<16 { bytes.append(UInt8(ascii: "0")) }
      bytes.append(contentsOf: digits.utf8)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  package mutating func write(_ value: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    UTF8Bytes.with(value) { appendEscaped($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func write(_ value: Data) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: value.base64EncodedData())
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendDigits(_ value: UInt64) {
    var rest = value
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: digits[start..<20])
    }
  }

  /// Appends text with what JSON, and a page that embeds it, cannot hold as it is written as escapes.
  private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
    var plain = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
        continue
      }
      bytes.append(contentsOf: text[plain..<index])
      plain = index + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
      case 0x0a: bytes.append(UInt8(ascii: "n"))
      case 0x0d: bytes.append(UInt8(ascii: "r"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      default:
        append(byte < 0x10 ? "u000" : "u001")
        bytes.append(contentsOf: String(byte & 0xf, radix: 16).utf8)
      }
    }
    bytes.append(contentsOf: text[plain..<text.count])
  }

  // MARK: Hiding

  package func disclosed(_ value: FieldValue, of field: String) -> FieldValue {
    redactor.map { $0.value(value, of: field) } ?? value
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
