/// The SHA-256 of some bytes (FIPS 180-4): the page's policy names the only script that may run by it.
package enum SHA256 {
  /// The 32 bytes of the digest.
  package static func digest(of message: [UInt8]) -> [UInt8] {
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: (UInt64(message.count) * 8) >> UInt64(shift)))
    }
    var hash = initial
    for start in stride(from: 0, to: bytes.count, by: 64) {
      process(bytes[start..<start + 64], into: &hash)
    }
    return hash.flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private static func process(_ block: ArraySlice<UInt8>, into hash: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4)
      .map { place in
        block[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }
    for index in 16..<64 {
      let (old, new) = (words[index - 15], words[index - 2])
      let low = rotate(old, 7) ^ rotate(old, 18) ^ (old >> 3)
      let high = rotate(new, 17) ^ rotate(new, 19) ^ (new >> 10)
      words.append(words[index - 16] &+ low &+ words[index - 7] &+ high)
    }
    var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
    var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
    for index in 0..<64 {
      let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sum1 &+ choice &+ constants[index] &+ words[index]
      let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { hash[index] &+= word }
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  // The fractional parts of the square roots of the first eight primes, and of the cube roots of the
  // first 64, 32 bits of each.
  private static let initial = primes.prefix(8).map { fraction(ofRoot: 2, of: $0) }
  private static let constants = primes.map { fraction(ofRoot: 3, of: $0) }

  private static let primes: [UInt64] = (2...311)
    .filter { number in
      !(2..<number).contains { number % $0 == 0 }
    }

  /// The first 32 bits after the point of a root, by trying bit after bit: a double has too few.
  private static func fraction(ofRoot degree: Int, of number: UInt64) -> UInt32 {
    var root: UInt64 = 0
    for bit in stride(from: UInt64(36), through: 0, by: -1) {
      let candidate = root | 1 << bit
      if isAtMost(candidate, degree, number) { root = candidate }
    }
    return UInt32(truncatingIfNeeded: root)
  }

  /// Whether (candidate / 2³²) to the power is at most the number.
  private static func isAtMost(_ candidate: UInt64, _ degree: Int, _ number: UInt64) -> Bool {
    // Compared in exact arithmetic: the power has up to 111 bits and is scaled by 2³² per factor.
    var power: (high: UInt64, low: UInt64) = (0, 1)
    for _ in 0..<degree {
      let low = power.low.multipliedFullWidth(by: candidate)
      power = (power.high &* candidate &+ low.high, low.low)
    }
    let scale = UInt64(32 * degree) - 64
    let limit = number << scale
    return power.high < limit || (power.high == limit && power.low == 0)
  }
}
