/// Small pieces of text that descriptions are made of.
package enum Phrase {
  /// A number and what it counts.
  package static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
  }

  /// A length of time with as many digits as people need.
  package static func duration(_ nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    if nanoseconds > 0, milliseconds == 0 { return "\(nanoseconds / 1_000) µs" }
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1_000
    let tenths = milliseconds % 1_000 / 100
    if seconds < 60 { return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s" }
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
  }

  /// The first few names of several.
  package static func names(_ names: [String], limit: Int = 4) -> String {
    let shown = names.prefix(limit).map { readable($0, limit: 64) }.joined(separator: " ")
    return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
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
