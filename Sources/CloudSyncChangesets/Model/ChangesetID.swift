import CloudSyncSQLiteSupport

/// What names a commit: the SHA-256 of all that it says.
///
/// Equal commits have equal identifiers, whoever made them. Identifiers are ordered by their bytes.
public struct ChangesetID: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let digest: Digest

  package init(_ digest: Digest) { self.digest = digest }

  /// Creates an identifier from its 32 bytes; nil if there are not so many.
  public init?(bytes: some Collection<UInt8>) {
    guard let digest = Digest(bytes) else { return nil }
    self.digest = digest
  }

  /// Creates an identifier from its 64 hexadecimal digits; nil if it has others.
  public init?(_ text: String) {
    guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] { digest.bytes }

  /// The 64 hexadecimal digits.
  public var description: String { digest.text }

  /// The first eight digits, as people write it.
  public var short: String { String(description.prefix(8)) }

  /// Tells whether one identifier's bytes are before another's.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.digest < rhs.digest }
}
