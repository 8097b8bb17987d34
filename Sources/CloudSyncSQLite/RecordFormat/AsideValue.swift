import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value that is of another kind than its column's own, as bytes in the field beside the column's own.
///
/// The first byte says of which kind it is, the rest is the value: 1 a whole number and 2 a real, each in eight
/// bytes, the lowest first; 3 text; 4 a BLOB; 5 text that is no UTF-8 or holds a NUL.
enum AsideValue {
  /// Codes a value as ``ValueCodec`` makes it; nil for NULL, for assets, and for what no column holds.
  static func bytes(of value: FieldValue) -> Data? {
    switch value {
    case .int64(let number): coded(1, bits: UInt64(bitPattern: number))
    case .double(let number): coded(2, bits: number.bitPattern)
    case .string(let text): Data([3] + text.utf8)
    case .data(let data): Data([4]) + data
    case .list(let values): rawText(in: values).map { Data([5]) + $0 }
    case .null, .asset, .timestamp, .reference, .location, .redacted: nil
    }
  }

  /// Reads a value.
  ///
  /// - Throws: An error for all bytes that code none.
  static func value(of bytes: Data) throws(CodedError) -> FieldValue {
    let rest = bytes.dropFirst()
    switch bytes.first {
    case 1: return .int64(Int64(bitPattern: try bits(rest)))
    case 2: return .double(Double(bitPattern: try bits(rest)))
    case 3:
      guard let text = rest.withUnsafeBytes({ UTF8Bytes.text($0) }) else {
        throw CodedError(place: "byte 1", reason: "text is not valid UTF-8")
      }
      return .string(text)
    case 4: return .data(Data(rest))
    case 5: return .list([.data(Data(rest))])
    default: throw CodedError(place: "byte 0", reason: "the value is of no known kind")
    }
  }

  /// The bytes of text that is no UTF-8 or holds a NUL, as ``ValueCodec`` makes it.
  static func rawText(in values: [FieldValue]) -> Data? {
    values.count == 1 ? values[0].dataValue : nil
  }

  private static func coded(_ kind: UInt8, bits: UInt64) -> Data {
    Data(
      [kind] + stride(from: UInt64(0), to: 64, by: 8).map { UInt8(truncatingIfNeeded: bits >> $0) }
    )
  }

  private static func bits(_ bytes: Data) throws(CodedError) -> UInt64 {
    guard bytes.count == 8 else {
      throw CodedError(place: "byte 1", reason: "a number has \(bytes.count) bytes in place of 8")
    }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
