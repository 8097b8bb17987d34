#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension FieldValue {
  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The text, if the value is text.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The whole number, if the value is one.
  public var int64Value: Int64? {
    if case .int64(let value) = self { value } else { nil }
  }

  /// The number, if the value is a double; a whole number is not converted.
  public var doubleValue: Double? {
    if case .double(let value) = self { value } else { nil }
  }

  /// The point in time, if the value is one.
  public var timestampValue: Timestamp? {
    if case .timestamp(let value) = self { value } else { nil }
  }

  /// The bytes, if the value is data.
  public var dataValue: Data? {
    if case .data(let value) = self { value } else { nil }
  }

  /// The reference, if the value is one.
  public var referenceValue: Reference? {
    if case .reference(let value) = self { value } else { nil }
  }

  /// The asset, if the value is one.
  public var assetValue: Asset? {
    if case .asset(let value) = self { value } else { nil }
  }

  /// The location, if the value is one.
  public var locationValue: Location? {
    if case .location(let value) = self { value } else { nil }
  }

  /// The elements, if the value is a list.
  public var listValue: [FieldValue]? {
    if case .list(let values) = self { values } else { nil }
  }

  /// The redaction, if the value was taken out of an event log.
  public var redactedValue: Redaction? {
    if case .redacted(let value) = self { value } else { nil }
  }
}

extension FieldValue: ExpressibleByStringLiteral {
  /// Creates text.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension FieldValue: ExpressibleByIntegerLiteral {
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { self = .int64(value) }
}

extension FieldValue: ExpressibleByFloatLiteral {
  /// Creates a double.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension FieldValue: ExpressibleByArrayLiteral {
  /// Creates a list.
  public init(arrayLiteral elements: FieldValue...) { self = .list(elements) }
}
