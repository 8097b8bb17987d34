import CloudSyncCore
import CloudSyncSQLiteSupport

/// A set of JSON's scalars, in order.
struct ScalarSet: Equatable {
  /// A scalar as JSON writes it: text with the fewest escapes, everything else as it was found.
  private struct Scalar: Equatable {
    let json: String
    /// Nulls, truth values and numbers come before text.
    let isText: Bool

    static func == (lhs: Scalar, rhs: Scalar) -> Bool { UTF8Bytes.equal(lhs.json, rhs.json) }

    static func precedes(_ lhs: Scalar, _ rhs: Scalar) -> Bool {
      if lhs.isText != rhs.isText { return rhs.isText }
      return UTF8Bytes.order(lhs.json, rhs.json) < 0
    }
  }

  private var elements: [Scalar]

  /// A set without elements.
  static let empty = ScalarSet(elements: [])

  private init(elements: [Scalar]) { self.elements = elements }

  /// Reads a JSON array; nil if it is none, or holds anything but scalars.
  init?(json: String) {
    var parser = ScalarParser(json)
    guard let scalars = parser.array() else { return nil }
    var elements: [Scalar] = []
    for scalar in scalars.map({ Scalar(json: $0.json, isText: $0.isText) })
      .sorted(by: Scalar.precedes) where elements.last != scalar
    {
      elements.append(scalar)
    }
    self.elements = elements
  }

  /// The set as a JSON array, in order and without spaces.
  var json: String { "[" + elements.map(\.json).joined(separator: ",") + "]" }

  /// This set with what a second one has more than a third, and without what it has less.
  func merging(_ changed: ScalarSet, from ancestor: ScalarSet) -> ScalarSet {
    let removed = ancestor.elements.filter { !changed.contains($0) }
    let added = changed.elements.filter { !ancestor.contains($0) && !contains($0) }
    let kept = elements.filter { !removed.contains($0) }
    return ScalarSet(elements: (kept + added).sorted(by: Scalar.precedes))
  }

  private func contains(_ scalar: Scalar) -> Bool {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] == scalar { return true }
      if Scalar.precedes(elements[middle], scalar) { low = middle + 1 } else { high = middle }
    }
    return false
  }
}

/// Reads JSON arrays of scalars.
private struct ScalarParser {
  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = text.unicodeScalars[...] }

  mutating func array() -> [(json: String, isText: Bool)]? {
    skipSpace()
    guard take("[") else { return nil }
    var result: [(json: String, isText: Bool)] = []
    skipSpace()
    if !take("]") {
      repeat {
        skipSpace()
        guard let scalar = scalar() else { return nil }
        result.append(scalar)
        skipSpace()
      } while take(",")
      guard take("]") else { return nil }
    }
    skipSpace()
    return rest.isEmpty ? result : nil
  }

  private mutating func scalar() -> (json: String, isText: Bool)? {
    if take("\"") { return text().map { (Self.quoted($0), true) } }
    var word = ""
    while let next = rest.first, !" \t\n\r,]".unicodeScalars.contains(next) {
      word.unicodeScalars.append(next)
      rest.removeFirst()
    }
    if word == "null" || word == "true" || word == "false" || Self.isNumber(word) {
      return (word, false)
    }
    return nil
  }

  /// The text up to the closing quote.
  private mutating func text() -> String? {
    var result = String.UnicodeScalarView()
    while let next = rest.popFirst() {
      switch next {
      case "\"": return String(result)
      case "\\":
        guard let scalar = escaped() else { return nil }
        result.append(scalar)
      default:
        guard next.value >= 0x20 else { return nil }
        result.append(next)
      }
    }
    return nil
  }

  private mutating func escaped() -> Unicode.Scalar? {
    switch rest.popFirst() {
    case "\"": return "\""
    case "\\": return "\\"
    case "/": return "/"
    case "b": return "\u{8}"
    case "f": return "\u{c}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u":
      guard let unit = unit() else { return nil }
      guard (0xd800..<0xdc00).contains(unit) else { return Unicode.Scalar(unit) }
      guard take("\\"), take("u"), let low = self.unit(), (0xdc00..<0xe000).contains(low) else {
        return nil
      }
      return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
    default: return nil
    }
  }

  private mutating func unit() -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let next = rest.popFirst(), next.isASCII, let digit = Character(next).hexDigitValue
      else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skipSpace() {
    while let next = rest.first, " \t\n\r".unicodeScalars.contains(next) { rest.removeFirst() }
  }

  private static func isNumber(_ word: String) -> Bool {
    var digits = word.utf8[...]
    if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
    let whole = digits.prefix { $0 >= 0x30 && $0 <= 0x39 }
    if whole.isEmpty || (whole.count > 1 && whole.first == 0x30) { return false }
    digits = digits.dropFirst(whole.count)
    if digits.first == UInt8(ascii: ".") {
      let fraction = digits.dropFirst().prefix { $0 >= 0x30 && $0 <= 0x39 }
      if fraction.isEmpty { return false }
      digits = digits.dropFirst(fraction.count + 1)
    }
    guard let mark = digits.first else { return true }
    guard mark | 0x20 == UInt8(ascii: "e") else { return false }
    digits.removeFirst()
    if let sign = digits.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      digits.removeFirst()
    }
    return !digits.isEmpty && digits.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  /// Text in quotes, with escapes where JSON asks for them.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 {
          result += "\\u00" + Hexadecimal.text(of: [UInt8(scalar.value)])
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
