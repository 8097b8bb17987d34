import CloudSyncCore

/// An expression of Swift source, which is broken into lines where it is too long for one.
indirect enum SwiftCode: ExpressibleByStringLiteral {
  /// Source as it stands.
  case text(String)
  /// A call: what is called, and its arguments.
  case call(String, [(label: String?, value: SwiftCode)])
  /// An array literal.
  case array([SwiftCode])
  /// A dictionary literal.
  case dictionary([(key: String, value: SwiftCode)])
  /// A closure of statements; several are never written in one line.
  case closure([String])

  init(stringLiteral text: String) { self = .text(text) }

  /// A call with arguments that have no labels.
  static func call(_ name: String, _ values: SwiftCode...) -> SwiftCode {
    .call(name, values.map { (nil, $0) })
  }

  private static let lineLength = 100

  /// The source, with lines after the first one indented.
  ///
  /// - Parameters:
  ///   - indent: How far the line is indented on which it begins.
  ///   - used: How much of that line is used already, the indent included.
  /// - Returns: The source; its first line begins without an indent.
  func source(indent: Int = 0, used: Int? = nil) -> String {
    let flat = flat
    if let flat, (used ?? indent) + flat.unicodeScalars.count <= Self.lineLength { return flat }
    let inner = indent + 2
    let margin = String(repeating: " ", count: inner)
    let end = "\n" + String(repeating: " ", count: indent)
    switch self {
    case .text(let text): return text
    case .call(let name, let arguments) where arguments.isEmpty: return name + "()"
    case .call(let name, let arguments):
      let lines = arguments.map { label, value in
        let head = label.map { "\($0): " } ?? ""
        return margin + head
          + value.source(indent: inner, used: inner + head.unicodeScalars.count)
      }
      return "\(name)(\n" + lines.joined(separator: ",\n") + end + ")"
    case .array(let values):
      return "[\n"
        + Self.lines(values.map { margin + $0.source(indent: inner, used: inner + 1) })
        + end.dropFirst() + "]"
    case .closure(let statements):
      return "{\n" + statements.map { margin + $0 + "\n" }.joined() + end.dropFirst() + "}"
    case .dictionary(let pairs):
      let lines = pairs.map { key, value in
        let used = inner + key.unicodeScalars.count + 3
        return margin + key + ": " + value.source(indent: inner, used: used)
      }
      return "[\n" + Self.lines(lines) + end.dropFirst() + "]"
    }
  }

  /// The lines of a collection; the comma after the last one is usual where there are several.
  private static func lines(_ lines: [String]) -> String {
    lines.joined(separator: ",\n") + (lines.count > 1 ? ",\n" : "\n")
  }

  /// The source in one line, if it may be.
  private var flat: String? {
    switch self {
    case .text(let text): return text
    case .call(let name, let arguments):
      guard let texts = Self.flat(arguments.map { ($0.label, $0.value) }) else { return nil }
      return "\(name)(\(texts))"
    case .array(let values): return Self.flat(values.map { (nil, $0) }).map { "[\($0)]" }
    case .dictionary(let pairs):
      return pairs.isEmpty ? "[:]" : Self.flat(pairs.map { ($0.key, $0.value) }).map { "[\($0)]" }
    case .closure(let statements):
      return statements.count > 1 ? nil : "{ \(statements.joined()) }"
    }
  }

  private static func flat(_ parts: [(head: String?, value: SwiftCode)]) -> String? {
    var texts: [String] = []
    for (head, value) in parts {
      guard let text = value.flat else { return nil }
      texts.append(head.map { "\($0): \(text)" } ?? text)
    }
    return texts.joined(separator: ", ")
  }
}

extension SwiftCode {
  /// A string literal that gives exactly these scalars, whatever they are.
  static func literal(_ text: String) -> String {
    var source = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": source += "\\\""
      case "\\": source += "\\\\"
      case "\n": source += "\\n"
      case "\r": source += "\\r"
      case "\t": source += "\\t"
      case _ where isPlain(scalar): source.unicodeScalars.append(scalar)
      default: source += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return source + "\""
  }

  /// Whether a scalar can be read in source, and stays what it is in every editor.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7f }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .otherLetter, .decimalNumber, .dashPunctuation,
      .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
      .otherPunctuation, .currencySymbol, .mathSymbol, .otherSymbol:
      // Of what has another composed form, an editor may make that form.
      return !scalar.properties.isFullCompositionExclusion
    default: return false
    }
  }

  /// Text that may stand in a comment of one line.
  static func comment(_ text: String) -> String {
    String(literal(text).dropFirst().dropLast())
      .replacing("\\\"", with: "\"")
  }

  /// A duration in the largest unit that gives a whole number.
  static func literal(_ duration: Duration) -> SwiftCode {
    let nanoseconds = duration.clampedNanoseconds
    if nanoseconds == 0 { return ".zero" }
    let units: [(String, Int64)] = [
      ("seconds", 1_000_000_000), ("milliseconds", 1_000_000), ("microseconds", 1_000),
    ]
    for (name, length) in units where nanoseconds % length == 0 {
      return .text(".\(name)(\(digits(nanoseconds / length)))")
    }
    return .text(".nanoseconds(\(digits(nanoseconds)))")
  }

  /// A whole number, its digits in groups of three where there are many.
  static func digits(_ number: some BinaryInteger) -> String {
    let text = String(number.magnitude)
    var grouped = ""
    for (place, digit) in text.enumerated() {
      if place > 0, (text.count - place) % 3 == 0, text.count > 4 { grouped.append("_") }
      grouped.append(digit)
    }
    return (number < 0 ? "-" : "") + grouped
  }

  /// An expression for exactly these bits.
  static func literal(_ number: Double) -> String {
    // The compiler warns about subnormal literals.
    if number.isFinite, !number.isSubnormal { return number.description }
    if number == .infinity { return ".infinity" }
    if number == -.infinity { return "-.infinity" }
    return "Double(bitPattern: 0x\(String(number.bitPattern, radix: 16)))"
  }
}
