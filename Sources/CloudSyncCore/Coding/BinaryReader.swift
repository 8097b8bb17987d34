#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads what `BinaryWriter` wrote.
///
/// Every length is checked against the bytes that are left before anything is allocated, so damaged
/// bytes cost an error, never memory or a trap.
package struct BinaryReader: CodedReader {
  private let bytes: [UInt8]
  private let end: Int
  package private(set) var offset: Int
  private var depth = 0

  /// How deeply values may nest before bytes count as damaged.
  private static let deepest = 128

  package init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
    self.bytes = bytes
    self.offset = start
    self.end = min(end ?? bytes.count, bytes.count)
  }

  package var isAtEnd: Bool { offset >= end }

  package func failure(_ reason: String) -> CodedError {
    CodedError(place: "byte \(offset)", reason: reason)
  }

  private mutating func byte() throws(CodedError) -> UInt8 {
    guard offset < end else { throw failure("the bytes end in the middle of a value") }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func length(atLeast unit: Int = 1) throws(CodedError) -> Int {
    let count = try readUInt64()
    guard count <= UInt64(end - offset) / UInt64(unit) else {
      throw failure("a length of \(count) is more than the bytes that are left")
    }
    return Int(count)
  }

  package mutating func beginObject() throws(CodedError) {
    depth += 1
    if depth > Self.deepest { throw failure("values nest more than \(Self.deepest) deep") }
  }
  package mutating func endObject() { depth -= 1 }
  @inlinable package mutating func key(_ name: StaticString) {}
  package mutating func beginArray() throws(CodedError) -> Int? {
    try beginObject()
    return try length()
  }
  package mutating func endArray() { depth -= 1 }

  package mutating func tag(of names: [StaticString]) throws(CodedError) -> Int {
    let index = Int(try byte())
    guard index < names.count else { throw failure("\(index) is no known case") }
    return index
  }
  package mutating func readPresent() throws(CodedError) -> Bool { try readBool() }
  package mutating func readBool() throws(CodedError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    case let other: throw failure("\(other) is neither yes nor no")
    }
  }
  package mutating func readInt64() throws(CodedError) -> Int64 {
    let raw = try readUInt64()
    return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
  }
  package mutating func readUInt64() throws(CodedError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || (shift == 63 && next <= 1) else {
        throw failure("a number has more than 64 bits")
      }
      value |= UInt64(next & 0x7f) << shift
      if next & 0x80 == 0 { return value }
      shift += 7
    }
  }
  package mutating func readDouble() throws(CodedError) -> Double {
    guard end - offset >= 8 else { throw failure("the bytes end in the middle of a number") }
    var bits: UInt64 = 0
    for index in 0..<8 { bits |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    offset += 8
    return Double(bitPattern: bits)
  }
  package mutating func readString() throws(CodedError) -> String {
    let count = try length()
    let text = bytes.withUnsafeBytes { bytes in
      UTF8Bytes.text(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }
    guard let text else {
      throw failure("text is not valid UTF-8")
    }
    offset += count
    return text
  }
  package mutating func readData() throws(CodedError) -> Data {
    let count = try length()
    defer { offset += count }
    return Data(bytes[offset..<offset + count])
  }
}
