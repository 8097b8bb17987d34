import CloudSyncCore

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
    /// A scalar inside JSON.
    case json(JSONScalar)
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
  func appendEntry(for key: any CodingKey) -> EncodingBox {
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
  func entry(for key: any CodingKey) -> EncodingBox {
    if case .object(let entries) = content,
      let old = entries.last(where: { UTF8Bytes.equal($0.key.stringValue, key.stringValue) })
    {
      return old.box
    }
    return appendEntry(for: key)
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
        throw Self.failure(
          of: "lists",
          at: path,
          reason: "Lists are nested more than \(limit) deep."
        )
      }
      return .list(
        try inOrder(elements).enumerated()
          .map { try $1.fieldValue(path: path + [CodingStep(index: $0)], options: options) }
      )
    case .list, .object, .json, .empty:
      try checkJSON(path: path, limit: options.maximumNesting)
      return .string(try json())
    }
  }

  /// Checks that everything below can be written as JSON.
  private func checkJSON(path: [any CodingKey], limit: Int) throws {
    switch content {
    case .empty, .null, .field, .json: return
    case .list(let elements):
      try checkDepth(of: path, limit: limit)
      for (index, element) in elements.enumerated() {
        try element.checkJSON(path: path + [CodingStep(index: index)], limit: limit)
      }
    case .object(let entries):
      try checkDepth(of: path, limit: limit)
      for entry in entries { try entry.box.checkJSON(path: path + [entry.key], limit: limit) }
    }
  }

  private func checkDepth(of path: [any CodingKey], limit: Int) throws {
    guard depth >= limit else { return }
    throw Self.failure(of: "value", at: path, reason: "Values are nested more than \(limit) deep.")
  }

  /// The place as JSON.
  private func json() throws -> String {
    var text = JSONText()
    try write(to: &text)
    return text.text
  }

  /// The elements in the order in which they are written.
  private func inOrder(_ elements: [EncodingBox]) throws -> [EncodingBox] {
    guard case .sorted(let stride) = order, elements.count > stride else { return elements }
    var groups: [(text: String, start: Int)] = []
    for start in Swift.stride(from: 0, to: elements.count, by: stride) {
      groups.append((try elements[start].json(), start))
    }
    groups.sort { UTF8Bytes.order($0.text, $1.text) < 0 }
    return groups.flatMap { elements[$0.start..<min($0.start + stride, elements.count)] }
  }

  static func failure(of value: Any, at path: [any CodingKey], reason: String) -> EncodingError {
    .invalidValue(value, .init(codingPath: path, debugDescription: reason))
  }
}

extension EncodingBox {
  /// Writes the place into JSON.
  private func write(to text: inout JSONText) throws {
    switch content {
    case .empty: text.append("{}")
    case .null: text.append("null")
    case .field(let value): try Self.coded(value).write(to: &text)
    case .json(let scalar): text.append(scalar)
    case .list(let elements):
      try text.appendArray(try inOrder(elements)) { try $1.write(to: &$0) }
    case .object(let entries):
      try text.appendObject(entries.map { ($0.key.stringValue, $0.box) }) { try $1.write(to: &$0) }
    }
  }

  /// A field's value in its own `Codable` form.
  private static func coded(_ value: FieldValue) throws -> EncodingBox {
    let box = EncodingBox(level: .json, depth: 0)
    // The value's own rules bound how deep it is.
    try value.encode(
      to: BoxEncoder(box: box, codingPath: [], options: RecordEncoder(maximumNesting: .max))
    )
    return box
  }
}
