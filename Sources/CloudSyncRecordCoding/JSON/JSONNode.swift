import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON of a field, read by `JSONDecoder` and kept as a tree.
///
/// The tree makes the coding paths of errors whole, and serves containers that are asked for
/// without a type.
indirect enum JSONNode {
  /// A number in every form that it is exact in.
  struct Number {
    var double: Double
    var signed: Int64?
    var unsigned: UInt64?
    var decimal: Decimal?
  }

  case null
  case bool(Bool)
  case number(Number)
  case string(String)
  case array([JSONNode])
  /// Values by their keys, which are sorted by their UTF-8 bytes.
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

  /// Reads a text.
  init(text: String, maximumNesting: Int) throws {
    let decoder = JSONDecoder()
    if let key = Self.nestingKey { decoder.userInfo[key] = maximumNesting }
    self = try decoder.decode(JSONNode.self, from: Data(text.utf8))
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

extension JSONNode: Decodable {
  /// Where the limit of the nesting travels; any text makes such a key.
  fileprivate static let nestingKey = CodingUserInfoKey(rawValue: "CloudSyncCore.nesting")

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    // A decoder says which type it holds only by refusing the others; the most frequent go first.
    if single.decodeNil() {
      self = .null
    } else if let text = try? single.decode(String.self) {
      self = .string(text)
    } else if let number = try? single.decode(Double.self) {
      self = .number(Self.number(number, single))
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let container = try? decoder.container(keyedBy: CodingStep.self) {
      try Self.checkNesting(decoder)
      let keys = container.allKeys.sorted { UTF8Bytes.order($0.stringValue, $1.stringValue) < 0 }
      self = .object(
        try keys.map { ($0.stringValue, try container.decode(JSONNode.self, forKey: $0)) }
      )
    } else {
      var container = try decoder.unkeyedContainer()
      try Self.checkNesting(decoder)
      var nodes: [JSONNode] = []
      while !container.isAtEnd { nodes.append(try container.decode(JSONNode.self)) }
      self = .array(nodes)
    }
  }

  private static func number(
    _ double: Double,
    _ container: any SingleValueDecodingContainer
  ) -> Number {
    var number = Number(double: double, decimal: try? container.decode(Decimal.self))
    // Foundation reads a fraction as an integer where a Double is too coarse to show it.
    if double == double.rounded(), abs(double) <= 0x1p64, let decimal = number.decimal {
      number.signed = try? container.decode(Int64.self)
      if let signed = number.signed, Decimal(signed) != decimal { number.signed = nil }
      if number.signed == nil { number.unsigned = try? container.decode(UInt64.self) }
      if let unsigned = number.unsigned, Decimal(unsigned) != decimal { number.unsigned = nil }
    }
    return number
  }

  private static func checkNesting(_ decoder: any Decoder) throws {
    let limit = nestingKey.flatMap { decoder.userInfo[$0] as? Int } ?? 0
    guard decoder.codingPath.count < limit else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "Values are nested more than \(limit) deep."
        )
      )
    }
  }
}
