/// A key whose hash is the same in every process and on every machine.
///
/// Swift's own hash is seeded per process. A map that is shaped by this one has the same shape, and
/// costs the same, wherever it is built. Equal keys have equal hashes; good hashes differ in all
/// bits, while those of dense integers are best left as they are.
package protocol StableHashable: Hashable, Sendable {
  /// The hash: a function of the key's value alone.
  var stableHash: UInt64 { get }
}

extension UInt64: StableHashable {
  @inlinable package var stableHash: UInt64 { self }
}

extension Int: StableHashable {
  @inlinable package var stableHash: UInt64 { UInt64(bitPattern: Int64(self)) }
}
