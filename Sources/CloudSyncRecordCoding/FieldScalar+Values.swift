import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date: FieldScalar {
  func fieldForm() throws(ScalarFailure) -> FieldValue {
    let timestamp = Timestamp(self)
    guard !timeIntervalSinceReferenceDate.isNaN, timestamp > .distantPast,
      timestamp < .distantFuture
    else {
      throw .content("The date lies outside the years 1678 to 2261, which a field can hold.")
    }
    return .timestamp(timestamp)
  }

  func jsonForm() -> JSONScalar? { .double(timeIntervalSinceReferenceDate) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Date {
    try Timestamp.read(from: value).date
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Date? {
    try Double.read(json: json).map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

extension Data: FieldScalar {
  func fieldForm() -> FieldValue { .data(self) }
  func jsonForm() -> JSONScalar? { .string(base64EncodedString()) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Data {
    guard case .data(let bytes) = value else { throw .mismatch }
    return bytes
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Data? {
    guard case .string(let text) = json else { throw .mismatch }
    guard let bytes = Data(base64Encoded: text) else { throw .content("The text is no Base64.") }
    return bytes
  }
}

/// A scalar that is text in a field and in JSON.
protocol TextScalar: FieldScalar {
  /// The text.
  var fieldText: String { get }
  /// Reads the text, nil where it is none.
  static func read(text: String) -> Self?
}

extension TextScalar {
  func fieldForm() throws(ScalarFailure) -> FieldValue { .string(fieldText) }
  func jsonForm() throws(ScalarFailure) -> JSONScalar? { .string(fieldText) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Self {
    guard case .string(let text) = value else { throw .mismatch }
    return try parse(text: text)
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Self? {
    guard case .string(let text) = json else { throw .mismatch }
    return try parse(text: text)
  }

  fileprivate static func parse(text: String) throws(ScalarFailure) -> Self {
    guard let result = read(text: text) else { throw .content("The text is no \(Self.self).") }
    return result
  }
}

extension UUID: TextScalar {
  var fieldText: String { uuidString }
  static func read(text: String) -> UUID? { UUID(uuidString: text) }
}

extension URL: TextScalar {
  var fieldText: String { absoluteString }
  static func read(text: String) -> URL? { URL(string: text) }
}

extension Decimal: FieldScalar {
  func fieldForm() throws(ScalarFailure) -> FieldValue { .string(try plainText()) }
  func jsonForm() throws(ScalarFailure) -> JSONScalar? { .number(try plainText()) }

  /// All digits, without an exponent, in the one form that the number has.
  private func plainText() throws(ScalarFailure) -> String {
    guard !isNaN, let digits = DecimalDigits(description) else {
      throw .content("The decimal is not a number.")
    }
    return digits.plainText
  }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Decimal {
    guard case .string(let text) = value else { throw .mismatch }
    return try exact(from: text)
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Decimal? {
    guard case .number(let number) = json else { throw .mismatch }
    return try exact(from: number.text)
  }

  /// Never by way of a `Double`, and never fewer digits than the text has.
  private static func exact(from text: String) throws(ScalarFailure) -> Decimal {
    guard let digits = DecimalDigits(text) else { throw .content("The text is no Decimal.") }
    guard let result = digits.decimal else {
      throw .content("The number has more digits than a Decimal.")
    }
    return result
  }
}

extension FieldValue: FieldScalar {
  func fieldForm() -> FieldValue { self }
  static func read(from value: FieldValue) -> FieldValue { value }
}

extension Timestamp: FieldScalar {
  func fieldForm() -> FieldValue { .timestamp(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Timestamp {
    guard case .timestamp(let result) = value else { throw .mismatch }
    return result
  }
}

extension Reference: FieldScalar {
  func fieldForm() -> FieldValue { .reference(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Reference {
    guard case .reference(let result) = value else { throw .mismatch }
    return result
  }
}

extension RecordID: FieldScalar {
  func fieldForm() -> FieldValue { .reference(Reference(recordID: self)) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> RecordID {
    try Reference.read(from: value).recordID
  }
}

extension Asset: FieldScalar {
  func fieldForm() -> FieldValue { .asset(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Asset {
    guard case .asset(let result) = value else { throw .mismatch }
    return result
  }
}

extension Location: FieldScalar {
  func fieldForm() -> FieldValue { .location(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Location {
    guard case .location(let result) = value else { throw .mismatch }
    return result
  }
}
