#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The `Encoder` that models see: it encodes into a box.
struct BoxEncoder: Encoder {
  let box: EncodingBox
  let codingPath: [any CodingKey]
  let options: RecordEncoder

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    box.makeObject()
    return KeyedEncodingContainer(BoxKeyedContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    box.makeList()
    return BoxUnkeyedContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    BoxSingleContainer(encoder: self)
  }

  /// An encoder for a value inside this one.
  func inner(_ box: EncodingBox, for key: any CodingKey) -> BoxEncoder {
    BoxEncoder(box: box, codingPath: codingPath + [key], options: options)
  }

  /// Encodes a value into the box.
  func encode<T: Encodable>(_ value: T) throws {
    if let scalar = value as? any FieldScalar {
      guard box.level == .json else {
        box.content = .field(
          try rethrowing(value) { () throws(ScalarFailure) in try scalar.fieldForm() }
        )
        return
      }
      if let leaf = try rethrowing(value, { () throws(ScalarFailure) in try scalar.jsonForm() }) {
        box.content = .json(leaf)
        return
      }
    }
    // What refers to itself would never end.
    guard box.depth <= options.maximumNesting else {
      throw EncodingBox.failure(
        of: value,
        at: codingPath,
        reason: "Values are nested more than \(options.maximumNesting) deep."
      )
    }
    let isDictionary = value is any UnorderedPairs
    if isDictionary, box.level == .field { box.level = .json }
    try value.encode(to: self)
    if isDictionary { box.order = .sorted(by: 2) }
    if value is any UnorderedElements { box.order = .sorted(by: 1) }
  }

  private func rethrowing<Form>(
    _ value: Any,
    _ body: () throws(ScalarFailure) -> Form
  ) throws -> Form {
    do throws(ScalarFailure) {
      return try body()
    } catch {
      // Foundation traps when it describes a date that is no number, so an error carries none.
      let value = (value as? Date).map { $0.timeIntervalSinceReferenceDate as Any } ?? value
      throw EncodingBox.failure(of: value, at: codingPath, reason: error.reason)
    }
  }
}

/// A collection whose elements have no order of their own.
protocol UnorderedElements {}
/// A collection whose pairs of key and value have no order of their own.
protocol UnorderedPairs {}

extension Set: UnorderedElements {}
extension Dictionary: UnorderedPairs {}

/// Encodes one value in place.
private struct BoxSingleContainer: SingleValueEncodingContainer {
  let encoder: BoxEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.box.content = .null }
  func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: Int128) throws { try encoder.encode(value) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: UInt128) throws { try encoder.encode(value) }
}

/// Encodes the elements of a list.
struct BoxUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: BoxEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.box.elementCount }

  private func next() -> BoxEncoder {
    let key = CodingStep(index: count)
    return encoder.inner(encoder.box.appendElement(), for: key)
  }

  func encodeNil() { next().box.content = .null }
  func encode<T: Encodable>(_ value: T) throws { try next().encode(value) }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: Int128) throws { try next().encode(value) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: UInt128) throws { try next().encode(value) }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    next().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
  func superEncoder() -> any Encoder { next() }
}
