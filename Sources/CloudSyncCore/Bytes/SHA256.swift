/// The SHA-256 of some bytes (FIPS 180-4), which may come in pieces.
package struct SHA256 {
  private var hash = Self.initial
  private var words = [UInt32](repeating: 0, count: 64)
  /// What does not fill a block yet.
  private var rest: [UInt8] = []
  private var byteCount: UInt64 = 0

  package init() {}

  /// The 32 bytes of the digest.
  package static func digest(of message: [UInt8]) -> [UInt8] {
    var digest = SHA256()
    message.withUnsafeBufferPointer { digest.update($0) }
    return digest.finish()
  }

  /// Adds bytes to those that came before.
  package mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    var start = 0
    if !rest.isEmpty {
      start = min(64 - rest.count, bytes.count)
      rest += bytes[..<start]
      guard rest.count == 64 else { return }
      let block = rest
      rest.removeAll(keepingCapacity: true)
      block.withUnsafeBufferPointer { Self.process(block: $0, words: &words, hash: &hash) }
    }
    while bytes.count - start >= 64 {
      let block = UnsafeBufferPointer(rebasing: bytes[start..<start + 64])
      Self.process(block: block, words: &words, hash: &hash)
      start += 64
    }
    rest += bytes[start...]
  }

  /// The 32 bytes of the digest of everything that came; nothing may come after it.
  package mutating func finish() -> [UInt8] {
    let bitCount = byteCount &* 8
    // Zeros up to eight bytes before a block's end, where the count of bits goes.
    let zeros = (119 - rest.count) % 64
    var end = [UInt8](repeating: 0, count: 1 + zeros + 8)
    end[0] = 0x80
    withUnsafeBytes(of: bitCount.bigEndian) { end.replaceSubrange((1 + zeros)..., with: $0) }
    end.withUnsafeBufferPointer { update($0) }
    return hash.map(\.bigEndian).withUnsafeBytes { [UInt8]($0) }
  }

  /// Takes one block of 64 bytes.
  ///
  /// Loops, shifts and accesses are those that cost little without optimization too: tests digest megabytes.
  private static func process(
    block: UnsafeBufferPointer<UInt8>,
    words: inout [UInt32],
    hash: inout [UInt32]
  ) {
    words.withUnsafeMutableBufferPointer { words in
      var index = 0
      while index < 16 {
        let place = index &* 4
        words[index] =
          UInt32(block[place]) &<< 24 | UInt32(block[place &+ 1]) &<< 16
          | UInt32(block[place &+ 2]) &<< 8 | UInt32(block[place &+ 3])
        index &+= 1
      }
      while index < 64 {
        let (old, new) = (words[index &- 15], words[index &- 2])
        let low = (old &>> 7 | old &<< 25) ^ (old &>> 18 | old &<< 14) ^ (old &>> 3)
        let high = (new &>> 17 | new &<< 15) ^ (new &>> 19 | new &<< 13) ^ (new &>> 10)
        words[index] = words[index &- 16] &+ low &+ words[index &- 7] &+ high
        index &+= 1
      }
      mix(UnsafeBufferPointer(words), into: &hash)
    }
  }

  /// The 64 rounds over the words of a block.
  private static func mix(_ words: UnsafeBufferPointer<UInt32>, into hash: inout [UInt32]) {
    var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
    var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
    constants.withUnsafeBufferPointer { constants in
      var index = 0
      while index < 64 {
        let sum1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
        let choice = (e & f) ^ (~e & g)
        let first = h &+ sum1 &+ choice &+ constants[index] &+ words[index]
        let sum0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
        let majority = (a & b) ^ (a & c) ^ (b & c)
        (h, g, f, e) = (g, f, e, d &+ first)
        (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
        index &+= 1
      }
    }
    hash[0] &+= a
    hash[1] &+= b
    hash[2] &+= c
    hash[3] &+= d
    hash[4] &+= e
    hash[5] &+= f
    hash[6] &+= g
    hash[7] &+= h
  }

  private static let initial: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c,
    0x1f83_d9ab, 0x5be0_cd19,
  ]

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
    0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
    0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
    0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
    0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
