#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A value whose coded form is written by hand, once, for every format.
///
/// One pair of functions serves the compact binary form of snapshots and journals, the `Codable`
/// form, and any further format that brings its own writer and reader. Equality and hashing
/// are those of the binary form, hence of bytes: text by its UTF-8, numbers by their bits.
package protocol CodedValue: CodedField, Codable, Hashable, Sendable {}

/// A sink for coded values.
///
/// A value is an object (named fields), an array, or a scalar. Formats that do not name their
/// fields ignore the names.
package protocol CodedWriter {
  mutating func beginObject()
  mutating func endObject()
  mutating func key(_ name: StaticString)
  mutating func beginArray(count: Int)
  mutating func endArray()
  /// Writes which case of an enumeration follows: its name or its index in `names`.
  mutating func tag(_ index: Int, of names: [StaticString])
  mutating func writeNil()
  /// Announces that an optional value is present.
  mutating func writePresent()
  mutating func write(_ value: Bool)
  mutating func write(_ value: Int64)
  mutating func write(_ value: UInt64)
  /// Writes all bits of a number, those of a NaN included.
  mutating func write(_ value: Double)
  mutating func write(_ value: String)
  mutating func write(_ value: Data)
  /// Whether a field may be left out where it has the same value as the field of that name that was
  /// written last, and whether hidden fields of records are written in a shorter form.
  static var isCompact: Bool { get }
  /// Writes a field that has the same value most of the time; a compact format leaves it out then.
  mutating func sharedField<T: CodedValue>(_ name: StaticString, _ value: T)
  /// The value of a shared field that was written last, where the format knows it.
  func lastShared<T: CodedValue>(_ name: StaticString) -> T?
  /// The value to write in place of a field's: the same, unless the written form hides it.
  func disclosed<Value: RedactableValue>(_ value: Value, of field: String) -> Value
  /// The text to write in place of one that tells about the user.
  func disclosed(_ text: String, as part: PrivatePart) -> String
  /// The bytes to write in place of some that tell about the user.
  func disclosed(_ bytes: Data, as part: PrivatePart) -> Data
}

/// A value of the user's that a written form may hide.
package protocol RedactableValue {
  /// What stands for the value where nothing but its kind and size may be seen.
  var skeleton: Self { get }
}

/// What tells about the user or the account besides the values of fields.
///
/// Nothing in a state's course depends on more of it than whether two of them are equal.
package enum PrivatePart: UInt8, Sendable {
  case userInfo
  case message
  case changeToken
  case accountIdentity
  case userInfoKey
  case zoneOwner
}

extension CodedWriter {
  @inlinable package static var isCompact: Bool { false }
  @inlinable package mutating func sharedField<T: CodedValue>(_ name: StaticString, _ value: T) {
    field(name, value)
  }
  @inlinable package func lastShared<T: CodedValue>(_ name: StaticString) -> T? { nil }
  @inlinable package func disclosed<Value: RedactableValue>(
    _ value: Value,
    of field: String
  ) -> Value { value }
  @inlinable package func disclosed(_ text: String, as part: PrivatePart) -> String { text }
  @inlinable package func disclosed(_ bytes: Data, as part: PrivatePart) -> Data { bytes }
}

/// A source of coded values: the mirror image of `CodedWriter`.
package protocol CodedReader {
  mutating func beginObject() throws(CodedError)
  mutating func endObject() throws(CodedError)
  /// Moves to a field of the current object.
  mutating func key(_ name: StaticString) throws(CodedError)
  /// Enters an array and returns the number of its elements; nil if only its end will tell.
  mutating func beginArray() throws(CodedError) -> Int?
  /// Whether there is an element at a position of the present array, of which those before are read.
  mutating func hasElement(at position: Int, of count: Int?) -> Bool
  mutating func endArray() throws(CodedError)
  mutating func tag(of names: [StaticString]) throws(CodedError) -> Int
  /// Consumes the mark of an optional value and returns whether a value follows.
  mutating func readPresent() throws(CodedError) -> Bool
  mutating func readBool() throws(CodedError) -> Bool
  mutating func readInt64() throws(CodedError) -> Int64
  mutating func readUInt64() throws(CodedError) -> UInt64
  mutating func readDouble() throws(CodedError) -> Double
  mutating func readString() throws(CodedError) -> String
  mutating func readData() throws(CodedError) -> Data
  /// Whether the format is a compact one, as its writer's `isCompact`.
  static var isCompact: Bool { get }
  /// Reads a field that `sharedField(_:_:)` wrote.
  mutating func sharedField<T: CodedValue>(_ name: StaticString) throws(CodedError) -> T
  /// An error at the present place.
  func failure(_ reason: String) -> CodedError
}

extension CodedReader {
  @inlinable package static var isCompact: Bool { false }
  @inlinable package mutating func sharedField<T: CodedValue>(
    _ name: StaticString
  ) throws(CodedError) -> T {
    try field(name)
  }
}

/// Coded bytes that cannot be read.
public struct CodedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where reading stopped: a byte offset, or the path of a field.
  public var place: String
  /// What is wrong there.
  public var reason: String

  /// Creates an error.
  public init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }

  /// The place and the reason in one line.
  public var description: String { "\(place): \(reason)" }
}
