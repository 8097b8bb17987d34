import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A place that one value is encoded into.
///
/// It is a class because the containers of `Codable` are handed out before they are filled.
final class EncodingBox {
  /// What the place belongs to, which decides how scalars look there.
  enum Level {
    /// The model itself.
    case record
    /// A field, or an element of its list.
    case field
    /// The inside of a JSON text.
    case json
  }

  /// A value under a key.
  struct Entry {
    var key: any CodingKey
    var box: EncodingBox
  }

  enum Content {
    /// Nothing was encoded, which is written as an object without values.
    case empty
    case null
    case field(FieldValue)
    /// A scalar that `JSONEncoder` knows by itself.
    case json(any Encodable)
    case list([EncodingBox])
    /// Values in the order in which they were encoded; a key may occur twice, and the last counts.
    case object([Entry])
  }

  /// In which order the elements of a list are written.
  enum Order {
    case asEncoded
    /// By their coded form, so many elements at a time, because a hash table gave them.
    case sorted(by: Int)
  }

  var level: Level
  var content = Content.empty
  var order = Order.asEncoded
  /// How many lists and structures of its field the place lies in.
  let depth: Int

  init(level: Level, depth: Int) {
    self.level = level
    self.depth = depth
  }

  /// A place for an element of this list.
  func appendElement() -> EncodingBox {
    let box = EncodingBox(level: level == .record ? .field : level, depth: depth + 1)
    makeList()
    if case .list(var elements) = content {
      content = .empty
      elements.append(box)
      content = .list(elements)
    }
    return box
  }

  /// How many elements the list has.
  var elementCount: Int {
    if case .list(let elements) = content { elements.count } else { 0 }
  }

  /// A fresh place for a value of this object.
  func appendEntry(_ key: any CodingKey) -> EncodingBox {
    let box = EncodingBox(level: level == .record ? .field : .json, depth: depth + 1)
    makeObject()
    if case .object(var entries) = content {
      content = .empty
      entries.append(Entry(key: key, box: box))
      content = .object(entries)
    }
    return box
  }

  /// The place that a key already has, or a fresh one: nested containers may be asked for twice.
  func entry(_ key: any CodingKey) -> EncodingBox {
    if case .object(let entries) = content,
      let old = entries.last(where: { UTF8Bytes.equal($0.key.stringValue, key.stringValue) })
    {
      return old.box
    }
    return appendEntry(key)
  }

  func makeList() {
    if case .list = content { return }
    precondition(isFree, "Encode a value into one kind of container, not into two.")
    content = .list([])
  }

  func makeObject() {
    if case .object = content { return }
    precondition(isFree, "Encode a value into one kind of container, not into two.")
    content = .object([])
  }

  private var isFree: Bool {
    switch content {
    case .list, .object: false
    default: true
    }
  }
}

extension EncodingBox {
  /// What the place holds, as the value of a field.
  func fieldValue(path: [any CodingKey], options: RecordEncoder) throws -> FieldValue {
    switch content {
    case .null: return .null
    case .field(let value): return value
    case .list(let elements) where level == .field:
      let limit = min(options.maximumNesting, RecordRules.maximumListDepth)
      guard depth < limit else {
        throw Self.failure("lists", path, "Lists are nested more than \(limit) deep.")
      }
      return .list(
        try inOrder(elements).enumerated()
          .map { try $1.fieldValue(path: path + [CodingStep(index: $0)], options: options) }
      )
    case .list, .object, .json, .empty:
      try checkJSON(path: path, limit: options.maximumNesting)
      return .string(try json(path: path))
    }
  }

  /// Checks that everything below can be written as JSON.
  private func checkJSON(path: [any CodingKey], limit: Int) throws {
    switch content {
    case .empty, .null, .field, .json: return
    case .list(let elements):
      try checkDepth(path, limit)
      for (index, element) in elements.enumerated() {
        try element.checkJSON(path: path + [CodingStep(index: index)], limit: limit)
      }
    case .object(let entries):
      try checkDepth(path, limit)
      for entry in entries { try entry.box.checkJSON(path: path + [entry.key], limit: limit) }
    }
  }

  private func checkDepth(_ path: [any CodingKey], _ limit: Int) throws {
    guard depth >= limit else { return }
    throw Self.failure("value", path, "Values are nested more than \(limit) deep.")
  }

  private func json(path: [any CodingKey]) throws -> String {
    do {
      return try Self.json(self)
    } catch {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: path,
          debugDescription: "The value cannot be written as JSON.",
          underlyingError: error
        )
      )
    }
  }

  private static func json(_ box: EncodingBox) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: JSONNode.infinity,
      negativeInfinity: JSONNode.negativeInfinity,
      nan: JSONNode.nan
    )
    return String(decoding: try encoder.encode(box), as: UTF8.self)
  }

  /// The elements in the order in which they are written.
  private func inOrder(_ elements: [EncodingBox]) throws -> [EncodingBox] {
    guard case .sorted(let stride) = order, elements.count > stride else { return elements }
    var groups: [(text: String, start: Int)] = []
    for start in Swift.stride(from: 0, to: elements.count, by: stride) {
      groups.append((try Self.json(elements[start]), start))
    }
    groups.sort { UTF8Bytes.order($0.text, $1.text) < 0 }
    return groups.flatMap { elements[$0.start..<min($0.start + stride, elements.count)] }
  }

  static func failure(_ value: Any, _ path: [any CodingKey], _ reason: String) -> EncodingError {
    .invalidValue(value, .init(codingPath: path, debugDescription: reason))
  }
}

extension EncodingBox: Encodable {
  /// Writes the place into JSON.
  func encode(to encoder: any Encoder) throws {
    switch content {
    case .empty: _ = encoder.container(keyedBy: CodingStep.self)
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .field(let value): try value.encode(to: encoder)
    case .json(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .list(let elements):
      var container = encoder.unkeyedContainer()
      for element in try inOrder(elements) { try container.encode(element) }
    case .object(let entries):
      var container = encoder.container(keyedBy: CodingStep.self)
      for entry in entries {
        try container.encode(entry.box, forKey: CodingStep(entry.key.stringValue))
      }
    }
  }
}

/// A key of a path that no model declares.
struct CodingStep: CodingKey {
  let stringValue: String
  let intValue: Int?

  /// What `Codable` puts a superclass under.
  static let superclass = CodingStep("super")

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { self.init(index: intValue) }
}
