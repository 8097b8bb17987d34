import CloudSyncCore

/// A type that is one value in a record, not a structure.
protocol FieldScalar: Codable {
  /// The value as a field holds it.
  func fieldForm() throws(ScalarFailure) -> FieldValue
  /// The value inside JSON, nil for the type's own `Codable` form.
  func jsonForm() throws(ScalarFailure) -> JSONScalar?
  /// Reads the value of a field that is not null.
  static func read(from value: FieldValue) throws(ScalarFailure) -> Self
  /// Reads a scalar of JSON that is not null; nil for the type's own `Codable` form.
  static func read(json: JSONNode) throws(ScalarFailure) -> Self?
}

/// Why a scalar has no form, or a form no scalar.
enum ScalarFailure: Error {
  /// The form is of another kind.
  case mismatch
  /// The kind is right and the content is not.
  case content(String)

  var reason: String {
    switch self {
    case .mismatch: "The value is of another kind."
    case .content(let reason): reason
    }
  }
}

extension FieldScalar {
  func jsonForm() throws(ScalarFailure) -> JSONScalar? { nil }
  static func read(json: JSONNode) throws(ScalarFailure) -> Self? { nil }
}

extension String: FieldScalar {
  func fieldForm() -> FieldValue { .string(self) }
  func jsonForm() -> JSONScalar? { .string(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> String {
    guard case .string(let text) = value else { throw .mismatch }
    return text
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> String? {
    guard case .string(let text) = json else { throw .mismatch }
    return text
  }
}

extension Bool: FieldScalar {
  func fieldForm() -> FieldValue { .int64(self ? 1 : 0) }
  func jsonForm() -> JSONScalar? { .bool(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Bool {
    switch value {
    case .int64(0): return false
    case .int64(1): return true
    case .int64(let number): throw .content("\(number) is neither 0 nor 1.")
    default: throw .mismatch
    }
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Bool? {
    guard case .bool(let value) = json else { throw .mismatch }
    return value
  }
}

extension FieldScalar where Self: FixedWidthInteger {
  func fieldForm() throws(ScalarFailure) -> FieldValue {
    guard let number = Int64(exactly: self) else {
      throw .content("\(self) does not fit into an Int64, which is all that a field holds.")
    }
    return .int64(number)
  }

  func jsonForm() throws(ScalarFailure) -> JSONScalar? {
    // No more, as other readers of JSON have no more.
    guard Int64(exactly: self) != nil || UInt64(exactly: self) != nil else {
      throw .content("\(self) does not fit into 64 bits.")
    }
    return .integer(self)
  }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Self {
    guard case .int64(let number) = value else { throw .mismatch }
    guard let result = Self(exactly: number) else {
      throw .content("\(number) does not fit into \(Self.self).")
    }
    return result
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Self? {
    guard case .number(let number) = json else { throw .mismatch }
    guard let result = number.integer(as: Self.self) else {
      throw .content("\(number.text) does not fit into \(Self.self).")
    }
    return result
  }
}

extension Int: FieldScalar {}
extension Int8: FieldScalar {}
extension Int16: FieldScalar {}
extension Int32: FieldScalar {}
extension Int64: FieldScalar {}
extension UInt: FieldScalar {}
extension UInt8: FieldScalar {}
extension UInt16: FieldScalar {}
extension UInt32: FieldScalar {}
extension UInt64: FieldScalar {}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: FieldScalar {}
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: FieldScalar {}

extension Double: FieldScalar {
  func fieldForm() -> FieldValue { .double(self) }
  func jsonForm() -> JSONScalar? { .double(self) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Double {
    switch value {
    case .double(let number): return number
    case .int64(let number):
      guard let result = Double(exactly: number) else {
        throw .content("\(number) is not exact as a Double.")
      }
      return result
    default: throw .mismatch
    }
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Double? {
    switch json {
    case .number(let number):
      guard let result = number.double else {
        throw .content("\(number.text) is too large for a Double.")
      }
      return result
    case .string(JSONNode.infinity): return .infinity
    case .string(JSONNode.negativeInfinity): return -.infinity
    case .string(JSONNode.nan): return .nan
    default: throw .mismatch
    }
  }
}

extension Float: FieldScalar {
  func fieldForm() -> FieldValue { .double(Double(self)) }
  /// The shortest text of a `Float`, read as a `Double`, is another number.
  func jsonForm() -> JSONScalar? { .double(Double(self)) }

  static func read(from value: FieldValue) throws(ScalarFailure) -> Float {
    if case .int64(let number) = value {
      guard let result = Float(exactly: number) else {
        throw .content("\(number) is not exact as a Float.")
      }
      return result
    }
    return try rounded(try Double.read(from: value))
  }

  static func read(json: JSONNode) throws(ScalarFailure) -> Float? {
    guard let number = try Double.read(json: json) else { return nil }
    return try rounded(number)
  }

  private static func rounded(_ number: Double) throws(ScalarFailure) -> Float {
    let result = Float(number)
    guard result.isFinite || !number.isFinite else {
      throw .content("\(number) is too large for a Float.")
    }
    return result
  }
}
