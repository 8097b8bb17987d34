/// Parts Swift source into tokens and comments.
///
/// It knows nested comments, raw, multi-line and interpolated strings, regular expressions and
/// escaped identifiers: as much as keeps prose from being taken for code, and no more.
struct Tokenizer {
  private(set) var tokens: [Token] = []
  private(set) var comments: [Comment] = []
  private(set) var line = 1
  private let bytes: [UInt8]
  private var offset = 0
  /// Where the last token ended.
  private var lastEnd = -1

  init(_ source: String) {
    bytes = Array(source.utf8)
    readCode(inInterpolation: false)
  }

  /// The texts of the tokens of a short piece of source.
  static func texts(of source: String) -> [String] { Tokenizer(source).tokens.map(\.text) }

  /// Whether a byte belongs to a word: a letter, a digit, `_`, `$`, a backtick, or a part of what is no ASCII.
  ///
  /// Comparisons of numbers cost little without optimization: the package has megabytes of source.
  static func isWordByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a || byte >= 0x30 && byte <= 0x39
      || byte == 0x5f || byte == 0x24 || byte == 0x60 || byte >= 0x80
  }

  /// Reads to the end, or to the parenthesis that closes an interpolation.
  private mutating func readCode(inInterpolation: Bool) {
    var depth = 0
    while offset < bytes.count {
      let start = offset
      switch bytes[offset] {
      case UInt8(ascii: " "): skip { $0 == UInt8(ascii: " ") }
      case UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): advance()
      case UInt8(ascii: "/") where at("//"): readLineComment()
      case UInt8(ascii: "/") where at("/*"): readBlockComment()
      case UInt8(ascii: "\""): readString(hashes: 0)
      case UInt8(ascii: "/") where beginsRegex: readRegex(hashes: 0)
      case UInt8(ascii: "#") where opensLiteral: readRaw()
      case UInt8(ascii: "`"):
        repeat { advance() } while offset < bytes.count && bytes[offset] != UInt8(ascii: "`")
        advance()
        append(from: start, line: line)
      case let byte where Self.isWordByte(byte):
        skip(while: Self.isWordByte)
        append(from: start, line: line)
      case let byte:
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") { depth -= 1 }
        if inInterpolation, depth < 0 { return }
        advance()
        append(from: start, line: line)
      }
    }
  }
}

// MARK: - Comments

extension Tokenizer {
  private mutating func readLineComment() {
    let start = offset
    skip { $0 != UInt8(ascii: "\n") }
    comments.append(Comment(text: text(from: start), line: line))
  }

  private mutating func readBlockComment() {
    var start = offset
    var depth = 0
    repeat {
      if at("/*") {
        depth += 1
        advance(2)
      } else if at("*/") {
        depth -= 1
        advance(2)
      } else {
        if bytes[offset] == UInt8(ascii: "\n") {
          comments.append(Comment(text: text(from: start), line: line))
          start = offset + 1
        }
        advance()
      }
    } while depth > 0 && offset < bytes.count
    comments.append(Comment(text: text(from: start), line: line))
  }
}

// MARK: - Literals

extension Tokenizer {
  /// Whether the number signs at the offset open a raw string or an extended regular expression.
  private var opensLiteral: Bool {
    let next = offset + count(of: "#", from: offset)
    return next < bytes.count
      && (bytes[next] == UInt8(ascii: "\"") || bytes[next] == UInt8(ascii: "/"))
  }

  /// Whether the slash at the offset opens a regular expression: a value can begin here, and
  /// another slash follows on the line.
  private var beginsRegex: Bool {
    let openers = ["(", ",", "=", ":", "[", "{", "&", "|", "!", "?", ";", "return", "in", "try"]
    guard openers.contains(tokens.last?.text ?? "{"), offset + 1 < bytes.count,
      ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ")")].contains(bytes[offset + 1])
    else { return false }
    let rest = bytes[(offset + 1)...].prefix { $0 != UInt8(ascii: "\n") }
    return rest.contains(UInt8(ascii: "/"))
  }

  private mutating func readRaw() {
    let hashes = count(of: "#", from: offset)
    if bytes[offset + hashes] == UInt8(ascii: "/") {
      readRegex(hashes: hashes)
    } else {
      readString(hashes: hashes)
    }
  }

  private mutating func readRegex(hashes: Int) {
    let (start, startLine) = (offset, line)
    advance(hashes + 1)
    while offset < bytes.count, !closes("/", hashes: hashes) {
      if hashes == 0, bytes[offset] == UInt8(ascii: "\n") { break }
      advance(bytes[offset] == UInt8(ascii: "\\") ? 2 : 1)
    }
    advance(hashes + 1)
    append(from: start, line: startLine)
  }

  /// Reads a string: one token for each stretch of text, the code of interpolations between them.
  private mutating func readString(hashes: Int) {
    let isMultiline = count(of: "\"", from: offset + hashes) >= 3
    let quote = isMultiline ? "\"\"\"" : "\""
    advance(hashes + quote.utf8.count)
    var (start, startLine) = (offset, line)
    while offset < bytes.count, !closes(quote, hashes: hashes) {
      if !isMultiline, bytes[offset] == UInt8(ascii: "\n") { break }
      let end = offset
      let isEscape =
        bytes[offset] == UInt8(ascii: "\\") && count(of: "#", from: offset + 1) >= hashes
      advance(isEscape ? 1 + hashes : 1)
      guard isEscape else { continue }
      guard at("(") else {
        advance()
        continue
      }
      append("\"" + text(from: start, to: end) + "\"", from: start, line: startLine)
      advance()
      readCode(inInterpolation: true)
      advance()
      (start, startLine) = (offset, line)
    }
    let end = offset
    advance(quote.utf8.count + hashes)
    append("\"" + text(from: start, to: end) + "\"", from: start, line: startLine)
  }

  private func closes(_ quote: String, hashes: Int) -> Bool {
    at(quote) && count(of: "#", from: offset + quote.utf8.count) >= hashes
  }
}

// MARK: - Bytes

extension Tokenizer {
  private mutating func advance(_ count: Int = 1) {
    let bytes = bytes
    let end = min(offset + count, bytes.count)
    while offset < end {
      if bytes[offset] == 0x0a { line += 1 }
      offset += 1
    }
  }

  /// Goes over bytes of which none ends a line.
  private mutating func skip(while isSo: (UInt8) -> Bool) {
    // A constant of its own is not retained for each byte, as a property is without optimization.
    let bytes = bytes
    var end = offset
    while end < bytes.count, isSo(bytes[end]) { end += 1 }
    offset = end
  }

  private func at(_ prefix: String) -> Bool {
    var place = offset
    for byte in prefix.utf8 {
      guard place < bytes.count, bytes[place] == byte else { return false }
      place += 1
    }
    return true
  }

  /// How many of a character stand in a row.
  private func count(of character: Unicode.Scalar, from start: Int) -> Int {
    let byte = UInt8(ascii: character)
    var end = start
    while end < bytes.count, bytes[end] == byte { end += 1 }
    return end - start
  }

  private func text(from start: Int, to end: Int? = nil) -> String {
    String(decoding: bytes[start..<(end ?? offset)], as: UTF8.self)
  }

  private mutating func append(from start: Int, line: Int) {
    append(text(from: start), from: start, line: line)
  }

  private mutating func append(_ text: String, from start: Int, line: Int) {
    tokens.append(Token(text: text, line: line, isGlued: start == lastEnd))
    lastEnd = offset
  }
}
