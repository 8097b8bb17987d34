/// Comparison and hashing of text by its UTF-8 bytes.
///
/// Swift's own `==` on text compares canonical forms, so it holds "é" and "e" with an accent for
/// equal, and its hash differs from process to process. Neither may reach a state.
package enum UTF8Bytes {
  /// Calls a function with the bytes of a text.
  @inline(__always)
  package static func with<R>(_ text: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) })
    {
      return result
    }
    var native = text
    return native.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// The text of these bytes; nil if they are not UTF-8.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    // Decoding repairs what is wrong, so only what was right comes out as it went in.
    let text = String(decoding: bytes, as: UTF8.self)
    return with(text) { equal($0, bytes) } ? text : nil
  }

  /// Tells whether two texts have the same bytes.
  @inline(__always)
  package static func equal(_ lhs: String, _ rhs: String) -> Bool {
    if isSame(lhs, rhs) { return true }
    guard lhs.utf8.count == rhs.utf8.count else { return false }
    return equalBytes(lhs, rhs: rhs)
  }

  /// Tells whether two optional texts are both absent or have the same bytes.
  package static func equal(_ lhs: String?, _ rhs: String?) -> Bool {
    switch (lhs, rhs) {
    case (nil, nil): true
    case (let lhs?, let rhs?): equal(lhs, rhs)
    default: false
    }
  }

  /// Tells whether two lists of texts have the same bytes.
  package static func equal(_ lhs: [String], _ rhs: [String]) -> Bool {
    guard lhs.count == rhs.count else { return false }
    for index in lhs.indices where !equal(lhs[index], rhs[index]) { return false }
    return true
  }

  /// Orders two texts by their bytes: negative, zero or positive.
  @inline(__always)
  package static func order(_ lhs: String, _ rhs: String) -> Int {
    isSame(lhs, rhs) ? 0 : orderBytes(lhs, rhs: rhs)
  }

  /// Tells whether two texts are one: the same storage, or the same few bytes held in place.
  @inline(__always)
  private static func isSame(_ lhs: String, _ rhs: String) -> Bool {
    guard MemoryLayout<String>.size == MemoryLayout<Bits>.size else { return false }
    let left = unsafeBitCast(lhs, to: Bits.self)
    let right = unsafeBitCast(rhs, to: Bits.self)
    return left.low == right.low && left.high == right.high
  }

  /// What a text is made of: a tuple's type would be looked up for each comparison where nothing is optimized.
  private struct Bits {
    let low: UInt64
    let high: UInt64
  }

  @inline(never)
  @_effects(readonly)  // Only bytes are read, so that callers need not retain the texts.
  private static func equalBytes(_ lhs: String, rhs: String) -> Bool {
    with(lhs) { left in with(rhs) { right in equal(left, right) } }
  }

  @inline(never)
  @_effects(readonly)  // Only bytes are read, so that callers need not retain the texts.
  private static func orderBytes(_ lhs: String, rhs: String) -> Int {
    with(lhs) { left in with(rhs) { right in order(left, right) } }
  }

  /// Tells whether two buffers hold the same bytes.
  package static func equal(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Bool {
    guard lhs.count == rhs.count else { return false }
    guard lhs.baseAddress != rhs.baseAddress else { return true }
    var index = 0
    while index + 8 <= lhs.count {
      if word(lhs, at: index) != word(rhs, at: index) { return false }
      index += 8
    }
    if lhs.count >= 8 {
      // The last eight bytes overlap those before: one load in place of seven.
      return word(lhs, at: lhs.count - 8) == word(rhs, at: lhs.count - 8)
    }
    while index < lhs.count {
      if lhs[index] != rhs[index] { return false }
      index += 1
    }
    return true
  }

  /// Orders two runs of bytes as `memcmp` does, and the shorter one first.
  package static func order(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Int {
    let shared = min(lhs.count, rhs.count)
    var index = 0
    while index + 8 <= shared {
      let (left, right) = (word(lhs, at: index), word(rhs, at: index))
      if left != right { return left.byteSwapped < right.byteSwapped ? -1 : 1 }
      index += 8
    }
    if shared >= 8 {
      let (left, right) = (word(lhs, at: shared - 8), word(rhs, at: shared - 8))
      if left != right { return left.byteSwapped < right.byteSwapped ? -1 : 1 }
      return lhs.count - rhs.count
    }
    while index < shared {
      if lhs[index] != rhs[index] { return lhs[index] < rhs[index] ? -1 : 1 }
      index += 1
    }
    return lhs.count - rhs.count
  }

  /// Eight bytes as a number whose lowest byte is the first, on every machine.
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Mixes the bytes of a text into a number that is the same in every process.
  package static func stableHash(text: String, seed: UInt64) -> UInt64 {
    with(text) { bytes in
      var hash = mix(seed ^ 0x6a09_e667_f3bc_c909, UInt64(bytes.count))
      var index = 0
      while index + 8 <= bytes.count {
        hash = mix(hash, word(bytes, at: index))
        index += 8
      }
      guard index < bytes.count else { return hash }
      var tail: UInt64 = 0
      if bytes.count >= 8 {
        // The last eight bytes overlap those before: one load in place of seven.
        tail = word(bytes, at: bytes.count - 8)
      } else {
        for offset in index..<bytes.count { tail = tail << 8 | UInt64(bytes[offset]) }
      }
      return mix(hash, tail)
    }
  }

  /// Mixes one word into a hash: the two halves of a product, folded.
  @inline(__always)
  package static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word ^ 0xbb67_ae85_84ca_a73b)
      .multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    return (product.high ^ product.low) &+ hash.byteSwapped
  }
}
