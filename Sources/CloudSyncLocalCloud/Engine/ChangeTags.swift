import CloudSyncCore

/// The change tags of a store.
enum ChangeTags {
  private static let letters: [UInt8] = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  /// The tag of a position in a life of a zone: no two places of a store have the same one.
  static func tag(zone: Int64, position: Int64, seed: UInt64) -> String {
    let place =
      UInt64(bitPattern: zone) << StoredZoneKey.positionBits ^ UInt64(bitPattern: position)
    var bits = SplitMix64.mix(place ^ seed)
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
