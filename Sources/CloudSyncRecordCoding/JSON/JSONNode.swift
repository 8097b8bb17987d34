import CloudSyncCore

/// The JSON of a field as a tree.
///
/// The tree makes the coding paths of errors whole, and serves containers that are asked for
/// without a type. Numbers are kept as they are written, so each type reads all of their digits.
indirect enum JSONNode {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONNode])
  /// Values by their keys, which are sorted by their UTF-8 bytes and occur once.
  case object([(key: String, value: JSONNode)])

  static let infinity = "inf"
  static let negativeInfinity = "-inf"
  static let nan = "nan"

  /// What the node is, for error messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }

  var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Finds the value of a key.
  static func value(
    of key: String,
    in entries: [(key: String, value: JSONNode)]
  ) -> JSONNode? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let order = UTF8Bytes.order(entries[middle].key, key)
      if order == 0 { return entries[middle].value }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}

/// A number as a JSON text has it.
struct JSONNumber {
  /// The text, which follows JSON's grammar.
  let text: String

  /// The nearest number of floating point; nil if there is none that is finite.
  var double: Double? {
    guard let result = Double(text), result.isFinite else { return nil }
    return result
  }

  /// The number as an integer; nil if it is none, or does not fit.
  func integer<Integer: FixedWidthInteger>(as type: Integer.Type) -> Integer? {
    Integer(text) ?? DecimalDigits(text)?.integer(as: type)
  }
}
