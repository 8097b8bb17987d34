import CloudSyncSQLiteSupport

/// Thirty-two bytes that name a content, in the order of the bytes.
package struct Digest: Sendable, Hashable, Comparable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Nil unless there are 32 bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    self.init(sha256: Array(bytes))
  }

  /// Takes the 32 bytes of a SHA-256.
  package init(sha256: [UInt8]) {
    words = sha256.withUnsafeBytes { bytes in
      // Bytes after the last would be read: an array of another length holds no such digest.
      precondition(bytes.count == 32, "A SHA-256 has 32 bytes.")
      func word(_ place: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      }
      return (word(0), word(8), word(16), word(24))
    }
  }

  package var bytes: [UInt8] {
    withUnsafeBytes(
      of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
    ) { [UInt8]($0) }
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
