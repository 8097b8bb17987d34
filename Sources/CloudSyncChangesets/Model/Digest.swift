import CloudSyncSQLiteSupport

/// Thirty-two bytes that name a content, in the order of the bytes.
package struct Digest: Sendable, Hashable, Comparable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Nil unless there are 32 bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (place, byte) in bytes.enumerated() {
      words[place / 8] = words[place / 8] << 8 | UInt64(byte)
    }
    self.words = (words[0], words[1], words[2], words[3])
  }

  /// Takes the 32 bytes of a SHA-256.
  package init(sha256: [UInt8]) {
    func word(_ place: Int) -> UInt64 {
      sha256[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    words = (word(0), word(8), word(16), word(24))
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3]
      .flatMap { word in
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
      }
  }

  package var text: String { Hexadecimal.text(of: bytes) }

  package static func == (lhs: Self, rhs: Self) -> Bool { lhs.words == rhs.words }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.words < rhs.words }

  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// What names a schema: a digest of its tables.
package struct SchemaID: Sendable, Hashable, Comparable {
  package var digest: Digest

  package init(_ digest: Digest) { self.digest = digest }

  package static func < (lhs: Self, rhs: Self) -> Bool { lhs.digest < rhs.digest }
}
