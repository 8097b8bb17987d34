#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A file that belongs to a record: what it holds and where it lies, never its bytes.
public struct Asset: Hashable, Codable, Sendable, CodedValue {
  /// The SHA-256 digest of the file: 32 bytes.
  public let sha256: Data
  /// The length of the file in bytes.
  public let byteCount: Int64
  /// Where the file lies: a path or an address that the operation handler understands.
  ///
  /// It is stored as it is. A path in a folder that may move, as an app's container does, is better
  /// stored relative to it: see ``AssetResolvingHandler``.
  public let location: String

  /// Creates an asset.
  ///
  /// - Precondition: The digest has 32 bytes, and the length is not negative.
  public init(sha256: Data, byteCount: Int64, location: String) {
    precondition(sha256.count == 32, "Give an Asset its SHA-256 digest, which has 32 bytes.")
    precondition(byteCount >= 0, "Give an Asset its length in bytes, which is not negative.")
    self.sha256 = sha256
    self.byteCount = byteCount
    self.location = location
  }

  /// Tells whether two assets have the same digest, length and location.
  public static func == (lhs: Asset, rhs: Asset) -> Bool {
    lhs.byteCount == rhs.byteCount && lhs.sha256 == rhs.sha256
      && UTF8Bytes.equal(lhs.location, rhs.location)
  }

  /// Hashes the digest and the location.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sha256)
    UTF8Bytes.with(location) { hasher.combine(bytes: $0) }
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("sha256", sha256)
      $0.field("byteCount", byteCount)
      $0.field("location", location)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      let sha256: Data = try reader.field("sha256")
      guard sha256.count == 32 else { throw reader.failure("a SHA-256 digest has 32 bytes") }
      let byteCount: Int64 = try reader.field("byteCount")
      guard byteCount >= 0 else { throw reader.failure("a length is not negative") }
      return Asset(
        sha256: sha256,
        byteCount: byteCount,
        location: try reader.field("location")
      )
    }
  }
}
