#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A digest of a value's skeleton: of everything in it but what tells about the user.
///
/// Identifiers, change tags, kinds, sizes and times count; the values of fields, error messages, user
/// info, change tokens and the account's identity do not. A value and its redacted form therefore have
/// the same digest, on every machine. It finds what differs by mistake, not by intent.
package struct SkeletonDigest: CodedWriter {
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  /// How many words have gone into it: what it has cost.
  package private(set) var wordCount = 0

  package init() {}

  /// The digest of what has been written.
  package var value: UInt64 {
    var mixed = state
    mixed ^= mixed >> 33
    mixed = mixed &* 0xff51_afd7_ed55_8ccd
    mixed ^= mixed >> 33
    mixed = mixed &* 0xc4ce_b9fe_1a85_ec53
    return mixed ^ (mixed >> 33)
  }

  /// The digest of one value.
  package static func of(_ value: some CodedValue) -> UInt64 {
    var digest = SkeletonDigest()
    value.write(to: &digest)
    return digest.value
  }

  private mutating func mix(_ word: UInt64) {
    wordCount += 1
    let product = (state ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
    state = (product.high ^ product.low) &+ 0x9e37_79b9_7f4a_7c15
  }

  package mutating func beginObject() {}
  package mutating func endObject() {}
  package mutating func key(_ name: StaticString) {}
  package mutating func beginArray(count: Int) { mix(UInt64(count)) }
  package mutating func endArray() {}
  package mutating func tag(_ index: Int, of names: [StaticString]) { mix(UInt64(index)) }
  package mutating func writeNil() { mix(0) }
  package mutating func writePresent() { mix(1) }
  package mutating func write(_ value: Bool) { mix(value ? 1 : 0) }
  package mutating func write(_ value: Int64) { mix(UInt64(bitPattern: value)) }
  package mutating func write(_ value: UInt64) { mix(value) }
  package mutating func write(_ value: Double) { mix(value.bitPattern) }
  package mutating func write(_ value: String) {
    UTF8Bytes.with(value) { mix($0) }
  }
  package mutating func write(_ value: Data) {
    value.withUnsafeBytes { mix($0) }
  }

  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    mix(UInt64(bytes.count))
    var index = 0
    while index + 8 <= bytes.count {
      mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      index += 8
    }
    guard index < bytes.count else { return }
    var last: UInt64 = 0
    for offset in index..<bytes.count { last = last << 8 | UInt64(bytes[offset]) }
    mix(last)
  }

  package func disclosed<Value: RedactableValue>(_ value: Value, of field: String) -> Value {
    value.skeleton
  }
  package func disclosed(_ text: String, as part: PrivatePart) -> String { "" }
  package func disclosed(_ bytes: Data, as part: PrivatePart) -> Data { Data() }
}
