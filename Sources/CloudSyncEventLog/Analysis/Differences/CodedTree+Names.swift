import CloudSyncCore

extension CodedTree {
  /// A field of an object.
  private func field(_ name: String) -> CodedTree? {
    guard case .object(let fields) = self else { return nil }
    return fields.first { $0.key == name }?.value
  }

  /// Whether the value is nothing but a name: of an operation, an attempt, a record or a zone.
  var isName: Bool {
    guard case .object(let fields) = self else { return false }
    switch fields.map(\.key) {
    case ["epoch", "number"], ["name", "zone"], ["name", "owner", "scope"]: return true
    default: return false
    }
  }

  /// What the value is called, if it is a name or has one.
  ///
  /// Operations are called by their number, entries and records by the record's name, fields and
  /// entries of user info by their key.
  var name: String? {
    guard case .object(let fields) = self else { return nil }
    if isName { return ownName }
    for key in ["id", "recordID", "delete"] {
      if let found = fields.first(where: { $0.key == key })?.value { return found.ownName }
    }
    for key in ["save", "operation", "entry"] {
      if let found = fields.first(where: { $0.key == key })?.value { return found.name }
    }
    guard fields.count == 2, fields[1].key == "value", case .string(let text) = fields[0].value,
      fields[0].key == "name" || fields[0].key == "key"
    else { return nil }
    return text
  }

  /// What a name says.
  private var ownName: String? {
    switch self {
    case .string(let text): text
    case .int(let number): "\(number)"
    case .object:
      if let epoch = field("epoch"), let number = field("number") {
        "\(epoch.scalarText).\(number.scalarText)"
      } else if case .string(let text)? = field("name") {
        text
      } else {
        nil
      }
    default: nil
    }
  }

  private var scalarText: String {
    switch self {
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    default: "?"
    }
  }

  /// Whether two trees are the same, text by its bytes.
  func isSame(as other: CodedTree) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.bool(let first), .bool(let second)): first == second
    case (.int(let first), .int(let second)): first == second
    case (.uint(let first), .uint(let second)): first == second
    case (.string(let first), .string(let second)): UTF8Bytes.equal(first, second)
    case (.array(let first), .array(let second)):
      first.count == second.count && zip(first, second).allSatisfy { $0.isSame(as: $1) }
    case (.object(let first), .object(let second)):
      first.count == second.count
        && zip(first, second)
          .allSatisfy { $0.key == $1.key && $0.value.isSame(as: $1.value) }
    default: false
    }
  }

  // MARK: Text

  /// The value in a few words, at most about a hundred and sixty letters.
  var summary: String {
    var room = 160
    return text(&room)
  }

  /// Writes as much as there is room for.
  private func text(_ room: inout Int) -> String {
    var result: String
    switch self {
    case .null: result = "null"
    case .bool(let value): result = "\(value)"
    case .int, .uint: result = scalarText
    case .string(let value):
      result = "“\(Phrase.readable(value, limit: max(8, min(80, room))))”"
    case .array(let values):
      if values.isEmpty { return "[]" }
      return list(values: values.map { (nil, $0) }, opening: "[", closing: "]", room: &room)
    case .object(let fields):
      guard isName, let ownName else {
        return list(
          values: fields.map { ($0.key, $0.value) },
          opening: "{",
          closing: "}",
          room: &room
        )
      }
      result = Phrase.readable(ownName, limit: 80)
    }
    room -= result.count
    return result
  }

  private func list(
    values: [(key: String?, value: CodedTree)],
    opening: String,
    closing: String,
    room: inout Int
  ) -> String {
    var result = opening
    for (place, (key, value)) in values.enumerated() {
      if place > 0 { result += ", " }
      guard room > 0 else {
        result += "… \(values.count - place) more"
        break
      }
      if let key {
        result += "\(key): "
        room -= key.count + 2
      }
      result += value.text(&room)
      room -= 2
    }
    return result + closing
  }
}
