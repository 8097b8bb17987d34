/// Encodes the values of a model or of a structure inside it.
struct BoxKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: BoxEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func fresh(for key: any CodingKey) -> BoxEncoder {
    encoder.inner(encoder.box.appendEntry(for: key), for: key)
  }

  private func place(for key: any CodingKey) -> BoxEncoder {
    encoder.inner(encoder.box.entry(for: key), for: key)
  }

  func encodeNil(forKey key: Key) { encoder.box.appendEntry(for: key).content = .null }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try fresh(for: key).encode(value)
  }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<Inner> {
    place(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    place(for: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { place(for: CodingStep.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { place(for: key) }

  /// A field is told that its value is nil; inside JSON nil is left out, as `JSONEncoder` does.
  private func optional<T: Encodable>(_ value: T?, for key: Key) throws {
    if let value {
      try encode(value, forKey: key)
    } else if encoder.box.level == .record {
      encodeNil(forKey: key)
    }
  }

  // The protocol's own versions would drop nil without a word, and each type has one.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try optional(value, for: key) }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try optional(value, for: key)
  }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: Int128, forKey key: Key) throws { try fresh(for: key).encode(value) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encode(_ value: UInt128, forKey key: Key) throws { try fresh(for: key).encode(value) }

  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try optional(value, for: key) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try optional(value, for: key) }
}
