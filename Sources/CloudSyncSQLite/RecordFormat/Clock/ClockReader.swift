import CloudSyncCore

/// Reads what ``ClockWriter`` has written.
///
/// Every length is compared with the bytes that are left, so damaged bytes cost an error, never memory or a
/// trap.
struct ClockReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// Reads bytes that have to stay where they are as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var left: Int { bytes.count - offset }

  /// What is left; nothing of it is taken.
  var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

  func failure(_ reason: String) -> CodedError {
    CodedError(place: "byte \(offset)", reason: reason)
  }

  func end() throws(CodedError) {
    if left != 0 { throw failure("\(left) bytes are left after the end") }
  }

  @inline(__always)
  mutating func byte() throws(CodedError) -> UInt8 {
    guard offset < bytes.count else { throw failure("the bytes end in the middle of a value") }
    defer { offset += 1 }
    return bytes[offset]
  }

  @inline(__always)
  mutating func unsigned() throws(CodedError) -> UInt64 {
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

  mutating func signed() throws(CodedError) -> Int64 { Self.unfolded(try unsigned()) }

  mutating func bits() throws(CodedError) -> UInt64 {
    let part = try span(of: 8)
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(part[index]) << UInt64(8 * index) }
    return value
  }

  /// A count of things that have at least one byte each.
  mutating func count() throws(CodedError) -> Int {
    let count = try unsigned()
    guard count <= UInt64(left) else {
      throw failure("a count of \(count) is more than the bytes that are left")
    }
    return Int(count)
  }

  /// The bytes of a name.
  mutating func name() throws(CodedError) -> UnsafeRawBufferPointer { try span(of: try count()) }

  mutating func text() throws(CodedError) -> String {
    guard let text = UTF8Bytes.text(try name()) else { throw failure("text is not valid UTF-8") }
    return text
  }

  /// A bit for each of a number of things; no others are set.
  mutating func bitmap(of count: Int) throws(CodedError) -> UnsafeRawBufferPointer {
    let part = try span(of: count / 8 + (count % 8 == 0 ? 0 : 1))
    if count % 8 != 0, let last = part.last, last >> UInt8(count % 8) != 0 {
      throw failure("a bit is set that stands for nothing")
    }
    return part
  }

  @inline(__always)
  mutating func time(from base: HybridTime) throws(CodedError) -> HybridTime {
    let difference = try unsigned()
    // Less than 2⁶² in size, so the sum does not overflow.
    let milliseconds = base.milliseconds + Self.unfolded(difference >> 1)
    let counter = difference & 1 == 0 ? 0 : try unsigned()
    guard HybridTime.millisecondRange.contains(milliseconds),
      counter <= UInt64(HybridTime.counterMask)
    else { throw failure("a time is out of range") }
    return HybridTime(rawValue: milliseconds << 16 | Int64(counter))
  }

  /// Goes on behind some bytes, if they come next; tells whether they do.
  mutating func skip(_ expected: [UInt8]) -> Bool {
    guard expected.count <= left else { return false }
    let next = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + expected.count])
    guard expected.withUnsafeBytes({ UTF8Bytes.equal($0, next) }) else { return false }
    offset += expected.count
    return true
  }

  private mutating func span(of count: Int) throws(CodedError) -> UnsafeRawBufferPointer {
    guard count <= left else { throw failure("the bytes end in the middle of a value") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  @inline(__always)
  private static func unfolded(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a bit of a bitmap is set.
  @inline(__always)
  func hasBit(_ index: Int) -> Bool { self[index / 8] >> UInt8(index % 8) & 1 == 1 }
}
