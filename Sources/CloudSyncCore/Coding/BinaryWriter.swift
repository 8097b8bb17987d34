#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Writes coded values as compact bytes without names.
///
/// Integers are variable-length (signed ones in zigzag), doubles are eight bytes, text and data have
/// a length before them, a case is one byte, an optional has one byte before it.
package struct BinaryWriter: CodedWriter {
  /// What has been written.
  package private(set) var bytes: [UInt8] = []

  package init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  @inlinable package mutating func beginObject() {}
  @inlinable package mutating func endObject() {}
  @inlinable package mutating func key(_ name: StaticString) {}
  package mutating func beginArray(count: Int) { write(UInt64(count)) }
  @inlinable package mutating func endArray() {}
  package mutating func tag(_ index: Int, of names: [StaticString]) {
    bytes.append(UInt8(truncatingIfNeeded: index))
  }
  package mutating func writeNil() { bytes.append(0) }
  package mutating func writePresent() { bytes.append(1) }
  package mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
  package mutating func write(_ value: Int64) {
    write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }
  package mutating func write(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
  package mutating func write(_ value: Double) {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }
  package mutating func write(_ value: String) {
    write(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }
  package mutating func write(_ value: Data) {
    write(UInt64(value.count))
    bytes.append(contentsOf: value)
  }
}
