import CloudSyncCore

/// Decodes the values of a model or of a structure inside it.
struct NodeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  enum Source {
    case record(Record)
    case object([(key: String, value: JSONNode)])
  }

  let decoder: NodeDecoder
  let source: Source

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    switch source {
    case .record(let record):
      record.fields.compactMap {
        decoder.options.keyEncoding.key(for: $0.name).flatMap { Key(stringValue: $0) }
      }
    case .object(let entries): entries.compactMap { Key(stringValue: $0.key) }
    }
  }

  private func node(for key: any CodingKey) -> NodeDecoder.Node? {
    switch source {
    case .record(let record):
      record[decoder.options.keyEncoding.fieldName(for: key.stringValue)].map { .field($0) }
    case .object(let entries):
      JSONNode.value(of: key.stringValue, in: entries).map { .json($0) }
    }
  }

  private func inner(for key: any CodingKey) throws -> NodeDecoder {
    guard let node = node(for: key) else { throw decoder.missing(key, in: codingPath) }
    return decoder.inner(node, for: key)
  }

  func contains(_ key: Key) -> Bool { node(for: key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try inner(for: key).isNull }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try inner(for: key).decode(type)
  }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try inner(for: key).decode(type)
  }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try inner(for: key).decode(type)
  }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<Inner> {
    try inner(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(for: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try inner(for: CodingStep.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner(for: key) }
}

/// Decodes the elements of a list.
struct NodeUnkeyedContainer: UnkeyedDecodingContainer {
  let decoder: NodeDecoder
  let nodes: [NodeDecoder.Node]
  private(set) var currentIndex = 0

  init(decoder: NodeDecoder, nodes: [NodeDecoder.Node]) {
    self.decoder = decoder
    self.nodes = nodes
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { nodes.count }
  var isAtEnd: Bool { currentIndex == nodes.count }

  private func current(for type: Any.Type) throws -> NodeDecoder {
    let key = CodingStep(index: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        .init(codingPath: codingPath + [key], debugDescription: "The list has no more elements.")
      )
    }
    return decoder.inner(nodes[currentIndex], for: key)
  }

  mutating func decodeNil() throws -> Bool {
    guard try current(for: Any?.self).isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) }

  private mutating func next<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try current(for: type).decode(type)
    currentIndex += 1
    return value
  }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) }

  mutating func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type
  ) throws -> KeyedDecodingContainer<Inner> {
    let container = try current(for: [String: Any].self).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current(for: [Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let inner = try current(for: (any Decoder).self)
    currentIndex += 1
    return inner
  }
}
