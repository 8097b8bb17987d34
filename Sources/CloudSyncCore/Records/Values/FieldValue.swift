#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The value of a record's field.
///
/// Values are equal if their bytes are: text by its UTF-8 (so "é" in one scalar is not "é" in
/// two), numbers by their bits (so `-0.0` is not `0.0`, and a NaN equals itself), and a value never
/// equals one of another kind.
///
/// ```swift
/// record["title"] = "Tea"
/// record["count"] = 3
/// record["due"] = .timestamp(Timestamp(date))
/// record["note"] = .null  // takes the field away in the cloud
/// ```
public enum FieldValue: Hashable, Codable, Sendable, CodedValue {
  /// No value: in an edit it removes the field, in a whole record it is as good as absent.
  case null
  /// Text.
  case string(String)
  /// A whole number.
  case int64(Int64)
  /// A number with all its 64 bits.
  case double(Double)
  /// A point in time.
  case timestamp(Timestamp)
  /// Bytes.
  indirect case data(Data)
  /// A link to another record.
  indirect case reference(Reference)
  /// A file.
  indirect case asset(Asset)
  /// A place.
  indirect case location(Location)
  /// Several values. CloudKit takes lists of one kind only, and no lists of lists.
  case list([FieldValue])
  /// What an event log shows in place of a value.
  indirect case redacted(Redaction)

  package static let kinds: [StaticString] = [
    "null", "string", "int64", "double", "timestamp", "data", "reference", "asset", "location",
    "list", "redacted",
  ]

  /// The position of the value's kind in `kinds`.
  package var kindIndex: Int {
    switch self {
    case .null: 0
    case .string: 1
    case .int64: 2
    case .double: 3
    case .timestamp: 4
    case .data: 5
    case .reference: 6
    case .asset: 7
    case .location: 8
    case .list: 9
    case .redacted: 10
    }
  }

  /// The name of the value's kind, as the coded form has it.
  public var kind: String { Self.kindNames[kindIndex] }

  /// The names of all kinds, in the order of `kinds`.
  package static let kindNames = kinds.map { "\($0)" }

  /// How many bytes the value counts for the limits of a record and of a request.
  ///
  /// Text counts its UTF-8, data its length, a number or timestamp 8, a location 8 for each of its
  /// numbers, a reference the name of its target and 8, an asset 40 for digest and length, its
  /// content nothing, a list the sum of its elements, a redaction what the value counted.
  ///
  /// - Complexity: O(1), for a list O(*n*) in its elements.
  public var byteCount: Int {
    switch self {
    case .null: 0
    case .string(let value): value.utf8.count
    case .int64, .double, .timestamp: 8
    case .data(let value): value.count
    case .reference(let value): value.recordID.name.utf8.count + 8
    case .asset: 40
    case .location: 64
    case .list(let values): Self.byteCount(of: values)
    case .redacted(let value): value.byteCount
    }
  }

  private static func byteCount(of values: [FieldValue]) -> Int {
    var sum = 0
    for value in values { sum += value.byteCount }
    return sum
  }
}
