import CloudSyncCore

/// The `Decoder` that models see: it decodes a record, a field, or a part of its JSON.
struct NodeDecoder: Decoder {
  enum Node {
    case record(Record)
    case field(FieldValue)
    case json(JSONNode)
  }

  let node: Node
  let codingPath: [any CodingKey]
  let options: RecordDecoder

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  /// A decoder for a value inside this one.
  func inner(_ node: Node, for key: any CodingKey) -> NodeDecoder {
    NodeDecoder(node: node, codingPath: codingPath + [key], options: options)
  }

  /// Whether there is no value.
  var isNull: Bool {
    switch node {
    case .record: false
    case .field(let value): value.isNull
    case .json(let value): value.isNull
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let source: NodeKeyedContainer<Key>.Source
    switch node {
    case .record(let record): source = .record(record)
    case .json(.object(let entries)): source = .object(entries)
    case .field(.string(let text)):
      guard case .object(let entries) = try parse(text: text) else {
        throw mismatch(expected: [String: Any].self)
      }
      source = .object(entries)
    default: throw mismatch(expected: [String: Any].self)
    }
    return KeyedDecodingContainer(NodeKeyedContainer(decoder: self, source: source))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch node {
    case .field(.list(let values)):
      return NodeUnkeyedContainer(decoder: self, nodes: values.map { .field($0) })
    case .json(.array(let nodes)):
      return NodeUnkeyedContainer(decoder: self, nodes: nodes.map { .json($0) })
    default: throw mismatch(expected: [Any].self)
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    NodeSingleContainer(decoder: self)
  }

  /// Decodes a value of a type.
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let scalar = type as? any FieldScalar.Type, let value = try read(scalar) {
      guard let result = value as? T else { throw mismatch(expected: type) }
      return result
    }
    // A dictionary whose keys are no text is an array in JSON, which a field does not expect.
    if type is any UnorderedPairs.Type, case .field(.string(let text)) = node {
      return try T(
        from: NodeDecoder(
          node: .json(try parse(text: text)),
          codingPath: codingPath,
          options: options
        )
      )
    }
    return try T(from: self)
  }

  /// Reads a scalar, nil where its type's own `Codable` form is to be read.
  private func read<S: FieldScalar>(_ type: S.Type) throws -> S? {
    do throws(ScalarFailure) {
      switch node {
      case .record: throw .mismatch
      case .field(let value):
        // Null is a value to that one type.
        guard !value.isNull || type is FieldValue.Type else { throw .mismatch }
        return try type.read(from: value)
      case .json(let value): return try type.read(json: value)
      }
    } catch {
      switch error {
      case .mismatch: throw mismatch(expected: type)
      case .content(let reason):
        throw DecodingError.dataCorrupted(
          .init(codingPath: codingPath, debugDescription: reason)
        )
      }
    }
  }

  private func parse(text: String) throws -> JSONNode {
    do throws(JSONError) {
      return try JSONParser.node(of: text, maximumNesting: options.maximumNesting)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath + error.steps.reversed(),
          debugDescription: "The field's text is no JSON that can be read.",
          underlyingError: error
        )
      )
    }
  }

  /// What to throw where the node is no value of a type.
  func mismatch(expected type: Any.Type) -> DecodingError {
    let found: String
    switch node {
    case .field(.null):
      if codingPath.count == 1, let key = codingPath.last { return missing(key, in: []) }
      found = "null"
    case .json(.null): found = "null"
    case .record: found = "a record"
    case .field(let value): found = "a field of kind \(value.kind)"
    case .json(let value): found = "a JSON \(value.kind)"
    }
    let context = DecodingError.Context(
      codingPath: codingPath,
      debugDescription: "Expected \(type), found \(found)."
    )
    return found == "null" ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// What to throw where there is no value for a key.
  func missing(_ key: any CodingKey, in path: [any CodingKey]) -> DecodingError {
    .keyNotFound(
      key,
      .init(codingPath: path, debugDescription: "There is no value for “\(key.stringValue)”.")
    )
  }
}

/// Decodes one value in place.
private struct NodeSingleContainer: SingleValueDecodingContainer {
  let decoder: NodeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.isNull }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }

  // The protocol has versions of its own for these two, which refuse.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func decode(_ type: Int128.Type) throws -> Int128 { try decoder.decode(type) }
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.decode(type) }
}
