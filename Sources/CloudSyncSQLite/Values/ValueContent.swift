import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Comparison of values by what they hold, wherever their bytes lie.
///
/// A BLOB may be data on one device and an asset on another, as a text may be a string here and an asset there, and two
/// assets of the same content may lie in different places.
enum ValueContent {
  /// Longer texts, in bytes of UTF-8, are ordered by their digests: on some device they may be assets.
  static let longestOrderedText = 1_000

  /// Whether two values hold the same.
  static func areEqual(_ lhs: FieldValue, _ rhs: FieldValue) -> Bool {
    switch (lhs, rhs) {
    case (.asset(let lhs), .asset(let rhs)):
      lhs.byteCount == rhs.byteCount && lhs.sha256 == rhs.sha256
    case (.asset(let asset), .data(let data)), (.data(let data), .asset(let asset)):
      asset.holds(data)
    case (.list, .string), (.string, .list), (.list, .list):
      if lhs.textAsset == nil, rhs.textAsset == nil {
        lhs == rhs
      } else {
        areEqualTexts(lhs, rhs)
      }
    // SQL does not tell a zero from the negative one, so no trigger captures a change from one to the other.
    case (.double(let lhs), .double(let rhs)): lhs == rhs || lhs.bitPattern == rhs.bitPattern
    default: lhs == rhs
    }
  }

  /// The same for texts of which one at least is in a file.
  private static func areEqualTexts(_ lhs: FieldValue, _ rhs: FieldValue) -> Bool {
    guard let asset = lhs.textAsset else { return rhs.textAsset != nil && areEqualTexts(rhs, lhs) }
    if let other = rhs.textAsset {
      return asset.byteCount == other.byteCount && asset.sha256 == other.sha256
    }
    return rhs.textBytes.map { asset.holds($0) } ?? false
  }

  /// An order of different values that is the same on every device; it means nothing.
  static func precedes(_ lhs: FieldValue, _ rhs: FieldValue) -> Bool {
    canonicalBytes(lhs).lexicographicallyPrecedes(canonicalBytes(rhs))
  }

  private static func canonicalBytes(_ value: FieldValue) -> [UInt8] {
    switch value {
    case .data(let data): [255] + SHA256.digest(of: Array(data))
    case .asset(let asset): [255] + Array(asset.sha256)
    case .string, .list:
      if let asset = value.textAsset {
        [254] + Array(asset.sha256)
      } else if let bytes = value.textBytes, bytes.count > longestOrderedText {
        [254] + SHA256.digest(of: bytes)
      } else {
        value.codedBytes
      }
    default: value.codedBytes
    }
  }

  // MARK: SQLite's order

  /// Orders two values as SQLite does: negative, zero or positive; nil if their bytes are not here.
  static func order(_ lhs: FieldValue, _ rhs: FieldValue) -> Int? {
    guard let left = rank(lhs), let right = rank(rhs) else { return nil }
    if left != right { return left - right }
    switch (lhs, rhs) {
    case (.null, .null): return 0
    case (.int64(let lhs), .int64(let rhs)): return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
    case (.double(let lhs), .double(let rhs)): return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
    case (.int64(let lhs), .double(let rhs)): return order(lhs, rhs)
    case (.double(let lhs), .int64(let rhs)): return -order(rhs, lhs)
    default:
      guard let left = bytes(lhs), let right = bytes(rhs) else { return nil }
      return left.lexicographicallyPrecedes(right)
        ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
    }
  }

  private static func rank(_ value: FieldValue) -> Int? {
    switch value {
    case .null: 0
    case .int64: 1
    case .double(let number): number.isNaN ? nil : 1
    case .string, .list: 2
    case .data, .asset: 3
    case .timestamp, .reference, .location, .redacted: nil
    }
  }

  /// Orders numbers exactly, which a conversion of large ones would not.
  private static func order(_ whole: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let truncated = Int64(real)
    if whole != truncated { return whole < truncated ? -1 : 1 }
    let fraction = real - real.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }

  private static func bytes(_ value: FieldValue) -> [UInt8]? {
    switch value {
    case .string, .list: value.textBytes
    case .data(let data): Array(data)
    default: nil
    }
  }
}

extension Asset {
  /// Whether its file has some bytes.
  func holds(_ bytes: some Collection<UInt8>) -> Bool {
    byteCount == bytes.count && SHA256.digest(of: Array(bytes)).elementsEqual(sha256)
  }
}
