/// Takes SQL apart as SQLite does.
enum SQLTokenizer {
  /// The tokens of some text; together they are all of it.
  ///
  /// - Parameters:
  ///   - bytes: The text.
  ///   - limit: How many tokens that count are enough.
  /// - Returns: The tokens, with what lies between them.
  static func tokens(of bytes: [UInt8], limit: Int = .max) -> [SQLToken] {
    var tokens: [SQLToken] = []
    var (start, found) = (0, 0)
    while start < bytes.count, found < limit {
      let (kind, end) = token(in: bytes, at: start)
      tokens.append(SQLToken(kind: kind, range: start..<end))
      if kind != .space, kind != .comment { found += 1 }
      start = end
    }
    return tokens
  }

  private static func token(in bytes: [UInt8], at start: Int) -> (SQLToken.Kind, end: Int) {
    let first = bytes[start]
    let next = start + 1 < bytes.count ? bytes[start + 1] : 0
    switch first {
    case UInt8(ascii: " "), 9, 10, 12, 13:
      return (
        .space, bytes.end(from: start) { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 12 || $0 == 13 }
      )
    case UInt8(ascii: "-") where next == first:
      return (.comment, bytes.end(from: start) { $0 != 10 })
    case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
      return (.comment, endOfComment(in: bytes, at: start))
    case UInt8(ascii: "'"): return quoted(.string, in: bytes, at: start)
    case UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(.quotedName, in: bytes, at: start)
    case UInt8(ascii: "["):
      let end = bytes.end(from: start) { $0 != UInt8(ascii: "]") }
      return end < bytes.count ? (.quotedName, end + 1) : (.invalid, end)
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      guard next == UInt8(ascii: "'") else { return word(in: bytes, at: start) }
      return quoted(.blob, in: bytes, at: start + 1)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return (.number, endOfNumber(in: bytes, at: start))
    case UInt8(ascii: ".") where next.isDigit:
      return (.number, endOfNumber(in: bytes, at: start))
    case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "#"),
      UInt8(ascii: "$"):
      return (.variable, bytes.end(from: start + 1) { $0.isPartOfName })
    case _ where first.isPartOfName: return word(in: bytes, at: start)
    default: return symbol(in: bytes, at: start)
    }
  }

  private static func word(in bytes: [UInt8], at start: Int) -> (SQLToken.Kind, end: Int) {
    (.word, bytes.end(from: start) { $0.isPartOfName })
  }

  private static func symbol(in bytes: [UInt8], at start: Int) -> (SQLToken.Kind, end: Int) {
    // By its bytes: a trigger has hundreds of symbols, and texts to compare would be made for each.
    let next = start + 1 < bytes.count ? bytes[start + 1] : 0
    switch (bytes[start], next) {
    case (UInt8(ascii: "-"), UInt8(ascii: ">")):
      let hasThird = start + 2 < bytes.count && bytes[start + 2] == UInt8(ascii: ">")
      return (.symbol, start + (hasThird ? 3 : 2))
    case (UInt8(ascii: "|"), UInt8(ascii: "|")), (UInt8(ascii: "="), UInt8(ascii: "=")),
      (UInt8(ascii: "!"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")),
      (UInt8(ascii: "<"), UInt8(ascii: "=")), (UInt8(ascii: ">"), UInt8(ascii: "=")),
      (UInt8(ascii: "<"), UInt8(ascii: "<")), (UInt8(ascii: ">"), UInt8(ascii: ">")):
      return (.symbol, start + 2)
    case (UInt8(ascii: "("), _), (UInt8(ascii: ")"), _), (UInt8(ascii: "*"), _),
      (UInt8(ascii: "+"), _), (UInt8(ascii: ","), _), (UInt8(ascii: "-"), _),
      (UInt8(ascii: "."), _), (UInt8(ascii: "/"), _), (UInt8(ascii: ";"), _),
      (UInt8(ascii: "<"), _), (UInt8(ascii: "="), _), (UInt8(ascii: ">"), _),
      (UInt8(ascii: "&"), _), (UInt8(ascii: "|"), _), (UInt8(ascii: "~"), _),
      (UInt8(ascii: "%"), _):
      return (.symbol, start + 1)
    default: return (.invalid, start + 1)
    }
  }

  /// What ends with the quote that it begins with, which counts as text where it is doubled.
  private static func quoted(
    _ kind: SQLToken.Kind,
    in bytes: [UInt8],
    at start: Int
  ) -> (SQLToken.Kind, end: Int) {
    let quote = bytes[start]
    var place = start + 1
    while place < bytes.count {
      guard bytes[place] == quote else {
        place += 1
        continue
      }
      guard place + 1 < bytes.count, bytes[place + 1] == quote else { return (kind, place + 1) }
      place += 2
    }
    return (.invalid, bytes.count)
  }

  /// A comment ends with the text if nothing else ends it.
  private static func endOfComment(in bytes: [UInt8], at start: Int) -> Int {
    var place = start + 2
    while place + 1 < bytes.count {
      if bytes[place] == UInt8(ascii: "*"), bytes[place + 1] == UInt8(ascii: "/") {
        return place + 2
      }
      place += 1
    }
    return bytes.count
  }

  private static func endOfNumber(in bytes: [UInt8], at start: Int) -> Int {
    var place = start
    while place < bytes.count {
      let isSign = bytes[place] == UInt8(ascii: "+") || bytes[place] == UInt8(ascii: "-")
      // A sign belongs to a number after the letter of an exponent only.
      let isExponent = place > start && bytes[place - 1] | 0x20 == UInt8(ascii: "e")
      let isHexadecimal = start + 1 < place && bytes[start + 1] | 0x20 == UInt8(ascii: "x")
      let belongs =
        bytes[place].isPartOfName || bytes[place] == UInt8(ascii: ".")
        || isSign && isExponent && !isHexadecimal
      guard belongs else { break }
      place += 1
    }
    return place
  }
}

extension [UInt8] {
  /// The first place from a given one whose byte is not like that.
  fileprivate func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
    var place = start
    while place < count, condition(self[place]) { place += 1 }
    return place
  }
}

// Comparisons of numbers cost little without optimization too.
extension UInt8 {
  /// From `0` to `9`.
  fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }

  fileprivate var isPartOfName: Bool {
    // From `a` to `z` and from `A` to `Z`; `_`; `$`.
    (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7a || isDigit || self >= 0x80 || self == 0x5f
      || self == 0x24
  }
}
