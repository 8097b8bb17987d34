import CloudSyncCore

/// A scalar inside JSON.
enum JSONScalar {
  case string(String)
  case bool(Bool)
  /// The text of a number, as it is written.
  case number(String)

  /// A number that is whole.
  static func integer(_ value: some FixedWidthInteger) -> JSONScalar { .number("\(value)") }

  /// A number of floating point, or the text that stands for one that JSON has not.
  static func double(_ value: Double) -> JSONScalar {
    if value.isNaN { return .string(JSONNode.nan) }
    if value.isInfinite {
      return .string(value < 0 ? JSONNode.negativeInfinity : JSONNode.infinity)
    }
    return .number(JSONText.number(value))
  }
}

/// JSON in the one form that a value has, on every system.
///
/// No white space; keys in the order of their UTF-8 bytes; in text only `"`, `\` and control
/// characters are escaped, these by their short forms or `\u00` and two small digits; a number has
/// the fewest digits that are read back as it, placed as ECMAScript does.
struct JSONText {
  private(set) var bytes: [UInt8] = []

  /// The text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ scalar: JSONScalar) {
    switch scalar {
    case .string(let text): append(quoted: text)
    case .bool(let value): append(value ? "true" : "false")
    case .number(let text): bytes.append(contentsOf: text.utf8)
    }
  }

  /// Appends text in quotes.
  mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): append("\\\"")
      case UInt8(ascii: "\\"): append("\\\\")
      case 0x08: append("\\b")
      case 0x09: append("\\t")
      case 0x0a: append("\\n")
      case 0x0c: append("\\f")
      case 0x0d: append("\\r")
      case 0..<0x20:
        append("\\u00")
        bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
        bytes.append(contentsOf: String(byte & 0x0f, radix: 16).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends an object, its keys in order; where a key comes twice the last value counts.
  mutating func appendObject<Value>(
    _ entries: [(key: String, value: Value)],
    by write: (inout JSONText, Value) throws -> Void
  ) rethrows {
    let order = entries.indices.sorted {
      let order = UTF8Bytes.order(entries[$0].key, entries[$1].key)
      return order < 0 || (order == 0 && $0 < $1)
    }
    append("{")
    var isFirst = true
    for (place, index) in order.enumerated() {
      let key = entries[index].key
      if place + 1 < order.count, UTF8Bytes.equal(entries[order[place + 1]].key, key) { continue }
      if !isFirst { append(",") }
      isFirst = false
      append(quoted: key)
      append(":")
      try write(&self, entries[index].value)
    }
    append("}")
  }

  /// Appends an array.
  mutating func appendArray<Element>(
    _ elements: [Element],
    by write: (inout JSONText, Element) throws -> Void
  ) rethrows {
    append("[")
    for (place, element) in elements.enumerated() {
      if place > 0 { append(",") }
      try write(&self, element)
    }
    append("]")
  }

  /// A finite number with the fewest digits that are read back as the same bits.
  static func number(_ value: Double) -> String {
    if value == 0 { return value.sign == .minus ? "-0" : "0" }
    // Swift's description has these digits, in a layout that is its own affair.
    guard let number = DecimalDigits(value.description) else { return value.description }
    let point = number.pointPlace
    let sign = number.isNegative ? "-" : ""
    if (-5...21).contains(point) {
      return sign + DecimalDigits.plain(number.digits, pointPlace: point)
    }
    let power = point - 1
    return sign + DecimalDigits.plain(number.digits, pointPlace: 1)
      + (power < 0 ? "e-" : "e+") + "\(power.magnitude)"
  }
}
