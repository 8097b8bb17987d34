/// A keyed hash of 128 bits: SipHash-2-4 in its long form, by Aumasson and Bernstein (2012).
///
/// Without the key nobody can tell which value a digest stands for, nor find two that meet.
struct SipHash {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  private var last: UInt64 = 0

  init(key: (UInt64, UInt64)) {
    v0 = 0x736f_6d65_7073_6575 ^ key.0
    v1 = 0x646f_7261_6e64_6f6d ^ key.1 ^ 0xee
    v2 = 0x6c79_6765_6e65_7261 ^ key.0
    v3 = 0x7465_6462_7974_6573 ^ key.1
  }

  /// Takes the whole of the message, once.
  mutating func combine(bytes: UnsafeRawBufferPointer) {
    let tail = bytes.count & ~7
    for index in stride(from: 0, to: tail, by: 8) {
      absorb(
        word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      )
    }
    last = UInt64(bytes.count & 0xff) << 56
    for index in tail..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - tail)) }
  }

  /// Gives the digest: its lower and its upper half.
  mutating func finish() -> (low: UInt64, high: UInt64) {
    absorb(word: last)
    v2 ^= 0xee
    for _ in 0..<4 { round() }
    let low = v0 ^ v1 ^ v2 ^ v3
    v1 ^= 0xdd
    for _ in 0..<4 { round() }
    return (low, v0 ^ v1 ^ v2 ^ v3)
  }

  private mutating func absorb(word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  private mutating func round() {
    v0 &+= v1
    v1 = Self.rotated(value: v1, count: 13) ^ v0
    v0 = Self.rotated(value: v0, count: 32)
    v2 &+= v3
    v3 = Self.rotated(value: v3, count: 16) ^ v2
    v0 &+= v3
    v3 = Self.rotated(value: v3, count: 21) ^ v0
    v2 &+= v1
    v1 = Self.rotated(value: v1, count: 17) ^ v2
    v2 = Self.rotated(value: v2, count: 32)
  }

  private static func rotated(value: UInt64, count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
  }
}
