import CloudSyncCore
package import CloudSyncSQLiteSupport

/// What is wrong with bytes that were to be decoded.
package struct ByteFault: Error, Sendable, Hashable {
  package var reason: String

  package init(_ reason: String) { self.reason = reason }
}

/// Reads canonical bytes; whatever a writer would not have written is a fault.
package struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  package private(set) var position: Int

  package init(_ bytes: some Collection<UInt8>) { self.init(ArraySlice(bytes)) }

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  package var remaining: Int { bytes.endIndex - position }
  package var isAtEnd: Bool { remaining == 0 }

  /// The bytes from a position up to the present one.
  package func bytes(since start: Int) -> ArraySlice<UInt8> { bytes[start..<position] }

  package mutating func byte() throws(ByteFault) -> UInt8 {
    guard position < bytes.endIndex else { throw ByteFault("it is cut short") }
    defer { position += 1 }
    return bytes[position]
  }

  package mutating func raw(_ count: Int) throws(ByteFault) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw ByteFault("it is cut short") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  package mutating func number() throws(ByteFault) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let next = try byte()
      // The tenth byte has room for one bit, and a last byte of zero could have been left out.
      if shift == 63, next > 1 { throw ByteFault("a number is too large") }
      value |= UInt64(next & 0x7f) << shift
      if next < 0x80 {
        if next == 0, shift > 0 { throw ByteFault("a number has needless bytes") }
        return value
      }
      shift += 7
    }
  }

  package mutating func signed() throws(ByteFault) -> Int64 {
    let word = try number()
    return Int64(bitPattern: word >> 1) ^ -Int64(bitPattern: word & 1)
  }

  /// A count of things that take at least so many bytes each: no more than there is room for.
  package mutating func count(ofAtLeast size: Int = 1) throws(ByteFault) -> Int {
    let value = try number()
    guard value <= UInt64(remaining / max(1, size)) else {
      throw ByteFault("a count is larger than what follows")
    }
    return Int(value)
  }

  package mutating func counted() throws(ByteFault) -> ArraySlice<UInt8> {
    try raw(try count())
  }

  package mutating func text() throws(ByteFault) -> String {
    guard let text = Self.text(of: try counted()) else { throw ByteFault("text is not UTF-8") }
    return text
  }

  private static func text(of bytes: ArraySlice<UInt8>) -> String? {
    bytes.withUnsafeBytes { UTF8Bytes.text($0) }
  }

  package mutating func bigEndian() throws(ByteFault) -> UInt64 {
    try raw(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func value() throws(ByteFault) -> SQLiteValue {
    switch try byte() {
    case ValueTag.null: return .null
    case ValueTag.integer: return .integer(try signed())
    case ValueTag.real:
      let number = Double(bitPattern: try bigEndian())
      if number.isNaN { throw ByteFault("a real number is none") }
      return .real(number)
    case ValueTag.text:
      let content = try counted()
      return Self.text(of: content).map { .text($0) } ?? .malformedText(Array(content))
    case ValueTag.blob: return .blob(Array(try counted()))
    default: throw ByteFault("a value is of no known kind")
    }
  }
}
