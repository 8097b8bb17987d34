package import CloudSyncCore
package import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns what SQLite stores into values of fields, and back, exactly.
///
/// Text that a cloud may refuse or mend, because it is no UTF-8 or holds a NUL, is a list of one
/// piece of data: so it differs from a BLOB of the same bytes, and every function on values works
/// on it. In the same way a text that is in a file is a list of one asset. ``RecordFormat`` says how they lie in a record.
package enum ValueCodec {
  /// The form in which a value travels.
  package enum Encoded: Sendable, Hashable {
    case field(FieldValue)
    /// A BLOB that is to be put into a file, of which the field then holds an asset.
    case asset([UInt8])
    /// The bytes of a text that is to be put into a file: UTF-8, but for malformed text.
    case textAsset([UInt8])
  }

  /// What a field holds.
  package enum Decoded: Sendable, Hashable {
    case value(SQLiteValue)
    /// A BLOB whose bytes are in a file.
    case asset(Asset)
    /// A text whose bytes are in a file.
    case textAsset(Asset)
  }

  /// Returns the form in which a value travels.
  ///
  /// - Parameters:
  ///   - value: The value as it is stored.
  ///   - assetThreshold: The size in bytes over which a BLOB becomes an asset.
  ///   - textThreshold: The size in bytes over which a text becomes one.
  /// - Returns: A field's value, or the bytes for a file.
  package static func encode(
    _ value: SQLiteValue,
    assetThreshold: Int,
    textThreshold: Int = .max
  ) -> Encoded {
    switch value {
    case .null: .field(.null)
    case .integer(let value): .field(.int64(value))
    case .real(let value): .field(.double(value))
    case .text(let value):
      if value.utf8.count > textThreshold {
        .textAsset(Array(value.utf8))
      } else {
        .field(value.utf8.contains(0) ? rawText(Array(value.utf8)) : .string(value))
      }
    case .malformedText(let bytes):
      bytes.count > textThreshold ? .textAsset(bytes) : .field(rawText(bytes))
    case .blob(let bytes):
      bytes.count > assetThreshold ? .asset(bytes) : .field(.data(Data(bytes)))
    }
  }

  /// Returns what a field holds; nil if it is of a kind that no column can hold.
  ///
  /// A NaN, which SQLite does not store, is NULL.
  package static func decode(_ field: FieldValue) -> Decoded? {
    switch field {
    case .null: .value(.null)
    case .int64(let value): .value(.integer(value))
    case .double(let value): .value(value.isNaN ? .null : .real(value))
    case .string(let value): .value(.text(value))
    case .data(let data): .value(.blob(Array(data)))
    case .asset(let asset): .asset(asset)
    case .list(let values):
      if values.count == 1, case .data(let data) = values[0] {
        .value(text(of: Array(data)))
      } else {
        field.textAsset.map { .textAsset($0) }
      }
    case .timestamp, .reference, .location, .redacted: nil
    }
  }

  /// Text of any bytes as a field's value.
  private static func rawText(_ bytes: [UInt8]) -> FieldValue { .list([.data(Data(bytes))]) }

  /// Text of any bytes as a field's value, whatever its length.
  package static func field(ofText bytes: [UInt8]) -> FieldValue {
    if case .text(let text) = text(of: bytes), !bytes.contains(0) { return .string(text) }
    return rawText(bytes)
  }

  /// Text of any bytes as SQLite holds it.
  package static func text(of bytes: [UInt8]) -> SQLiteValue {
    bytes.withUnsafeBytes { UTF8Bytes.text($0) }.map { .text($0) } ?? .malformedText(bytes)
  }
}

extension FieldValue {
  /// A text whose bytes are in a file.
  static func textAsset(_ asset: Asset) -> FieldValue { .list([.asset(asset)]) }

  /// The bytes of a text that is in no file; nil for all else.
  var textBytes: [UInt8]? {
    switch self {
    case .string(let text): Array(text.utf8)
    case .list(let values): values.count == 1 ? values[0].dataValue.map { Array($0) } : nil
    default: nil
    }
  }

  /// The file of a text that is in one; nil for all else.
  var textAsset: Asset? {
    guard case .list(let values) = self, values.count == 1 else { return nil }
    return values[0].assetValue
  }
}
