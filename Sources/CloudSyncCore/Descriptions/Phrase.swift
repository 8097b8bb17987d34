/// Small pieces of text that descriptions are made of.
package enum Phrase {
  /// A number and what it counts.
  package static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
  }

  /// A length of time in the units that suit it: `850 ms`, `5.25 s`, `3 min 20 s`, `2 h 5 min`.
  ///
  /// - Parameters:
  ///   - nanoseconds: The length.
  ///   - decimals: At most so many digits of a second are told, up to three.
  /// - Returns: The text; what is beyond its digits is cut off.
  package static func duration(_ nanoseconds: Int64, decimals: Int = 3) -> String {
    (nanoseconds < 0 ? "-" : "") + length(nanoseconds.magnitude, decimals: decimals)
  }

  private static func length(_ nanoseconds: UInt64, decimals: Int) -> String {
    let milliseconds = nanoseconds / 1_000_000
    let seconds = milliseconds / 1_000
    switch seconds {
    case 0 where nanoseconds == 0: return "0 s"
    case 0 where nanoseconds < 1_000: return "\(nanoseconds) ns"
    case 0 where milliseconds == 0: return "\(nanoseconds / 1_000) µs"
    case 0: return "\(milliseconds) ms"
    case ..<60:
      var digits = "\(1_000 + milliseconds % 1_000)".dropFirst().prefix(decimals)
      while digits.hasSuffix("0") { digits.removeLast() }
      return digits.isEmpty ? "\(seconds) s" : "\(seconds).\(digits) s"
    case ..<3_600: return pair(seconds / 60, unit: "min", rest: seconds % 60, smallerUnit: "s")
    case ..<86_400:
      return pair(seconds / 3_600, unit: "h", rest: seconds % 3_600 / 60, smallerUnit: "min")
    default:
      return pair(seconds / 86_400, unit: "d", rest: seconds % 86_400 / 3_600, smallerUnit: "h")
    }
  }

  /// Two units, the smaller one only if there is something of it.
  private static func pair(
    _ number: UInt64,
    unit: String,
    rest: UInt64,
    smallerUnit: String
  ) -> String {
    rest == 0 ? "\(number) \(unit)" : "\(number) \(unit) \(rest) \(smallerUnit)"
  }

  /// The first few names of several.
  package static func names(_ names: [String]) -> String {
    firstFew(of: names, separator: " ") { readable($0, limit: 64) }
  }

  /// The first few of several, and how many more there are.
  package static func firstFew<Item>(
    of items: [Item],
    limit: Int = 4,
    separator: String = ", ",
    text: (Item) -> String
  ) -> String {
    let shown = items.prefix(limit).map(text).joined(separator: separator)
    return items.count > limit ? "\(shown) and \(items.count - limit) more" : shown
  }

  /// Text without what a terminal would take for a command, cut to a length.
  package static func readable(_ text: String, limit: Int = 200) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit { return result + "…" }
      count += 1
      if isHarmless(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return result
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    default: true
    }
  }
}
