import CloudSyncCore

/// Signs change tokens, and tells those of a store from all other bytes.
struct TokenSeal {
  /// The store's secret; empty in a store of version 2.
  let secret: [UInt8]
  /// Signs the tokens of a store without a secret.
  let seed: UInt64

  /// How many bytes of a signature a token has.
  private static let codeCount = 16
  /// How many bytes a token may have.
  private static let limit = 200

  /// Signs and shuffles what a token says.
  func closing(_ payload: [UInt8]) -> [UInt8] {
    if secret.isEmpty {
      let check = Self.check(bytes: payload, seed: seed)
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: check >> UInt64(8 * $0)) }
      return bytes + Self.shuffled(bytes: payload, key: check)
    }
    let code = Array(SHA256.code(of: payload, key: secret).prefix(Self.codeCount))
    return code + Self.shuffled(bytes: payload, key: Self.number(code) ^ seed)
  }

  /// What a token says; nil for bytes that this store has not signed.
  func opening(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count < Self.limit else { return nil }
    if secret.isEmpty { return openingUnsecured(bytes) }
    guard bytes.count > Self.codeCount else { return nil }
    let code = Array(bytes[..<Self.codeCount])
    let payload = Self.shuffled(
      bytes: Array(bytes[Self.codeCount...]),
      key: Self.number(code) ^ seed
    )
    let expected = SHA256.code(of: payload, key: secret).prefix(Self.codeCount)
    return ConstantTime.areEqual(code, Array(expected)) ? payload : nil
  }

  private func openingUnsecured(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count > 8 else { return nil }
    let check = Self.number(bytes)
    let payload = Self.shuffled(bytes: Array(bytes[8...]), key: check)
    return Self.check(bytes: payload, seed: seed) == check ? payload : nil
  }

  private static func number(_ bytes: [UInt8]) -> UInt64 {
    var number: UInt64 = 0
    for place in 0..<8 { number |= UInt64(bytes[place]) << UInt64(8 * place) }
    return number
  }

  private static func check(bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.reduce(UTF8Bytes.mix(seed, UInt64(bytes.count))) { UTF8Bytes.mix($0, UInt64($1)) }
  }

  private static func shuffled(bytes: [UInt8], key: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: key)
    var bytes = bytes
    for place in bytes.indices { bytes[place] ^= UInt8(truncatingIfNeeded: generator.next()) }
    return bytes
  }
}

extension StoreCounters {
  /// Signs the store's change tokens.
  var tokenSeal: TokenSeal { TokenSeal(secret: secret, seed: seed) }
}

/// Comparisons that take the same time wherever two values differ.
package enum ConstantTime {
  /// Whether two values are equal; only their lengths may be told from the time it takes.
  package static func areEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
    guard lhs.count == rhs.count else { return false }
    var difference: UInt8 = 0
    for place in lhs.indices { difference |= lhs[place] ^ rhs[place] }
    return difference == 0
  }
}

extension SHA256 {
  /// The HMAC of some bytes (RFC 2104): nobody makes it without the key.
  package static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    let key = key.count > 64 ? digest(of: key) : key
    var (inner, outer) = ([UInt8](repeating: 0x36, count: 64), [UInt8](repeating: 0x5c, count: 64))
    for place in key.indices {
      inner[place] ^= key[place]
      outer[place] ^= key[place]
    }
    return digest(of: outer + digest(of: inner + bytes))
  }
}
