import CloudSyncCore

/// A small seeded generator: the same seed gives the same numbers everywhere, for ever.
struct OwnGenerator: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mixed(state)
  }

  /// A number from 0 up to, but not including, a bound above 0.
  mutating func below(_ bound: UInt64) -> UInt64 {
    next().multipliedFullWidth(by: bound).high
  }

  /// Shuffles the bits of a number, differently for every number.
  static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// The change tags of a store.
enum ChangeTags {
  private static let letters: [UInt8] = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  /// The tag of a position in a life of a zone: no two places of a store have the same one.
  static func tag(zone: Int64, position: Int64, seed: UInt64) -> String {
    let place =
      UInt64(bitPattern: zone) << StoredZoneKey.positionBits ^ UInt64(bitPattern: position)
    var bits = OwnGenerator.mixed(place ^ seed)
    return String(unsafeUninitializedCapacity: 13) { buffer in
      for index in 0..<13 {
        buffer[index] = letters[Int(bits & 31)]
        bits >>= 5
      }
      return 13
    }
  }
}

extension StoredZoneKey {
  /// How many bits a position has: lives of zones and positions fit together into 63.
  static let positionBits: Int64 = 40
}
