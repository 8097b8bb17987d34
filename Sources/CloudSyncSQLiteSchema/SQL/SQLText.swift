/// SQL text in tokens that cover every byte of it, so that it can be rewritten exactly.
package struct SQLText: Sendable, Hashable {
  package let bytes: [UInt8]
  package let tokens: [SQLToken]

  package init(_ text: String) {
    bytes = Array(text.utf8)
    tokens = SQLTokenizer.tokens(of: bytes)
  }

  /// The beginning of a text: as many tokens as it takes for so many that count.
  init(beginningOf text: String, meaningfulTokens limit: Int) {
    bytes = Array(text.utf8)
    tokens = SQLTokenizer.tokens(of: bytes, limit: limit)
  }

  /// The text between two offsets, as it was written.
  package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The tokens that count: all but spaces and comments.
  package var meaningfulTokens: [SQLToken] {
    tokens.filter { $0.kind != .space && $0.kind != .comment }
  }

  /// The name that a token means, without its quotes; nil if it cannot be one.
  package func name(of token: SQLToken) -> String? {
    switch token.kind {
    case .word: return text(token.range)
    case .quotedName, .string:
      let quote = bytes[token.range.lowerBound]
      let inner = bytes[token.range.dropFirst().dropLast()]
      // Brackets cannot be doubled.
      if quote == UInt8(ascii: "[") { return String(decoding: inner, as: UTF8.self) }
      var name: [UInt8] = []
      var isSecond = false
      for byte in inner {
        isSecond = byte == quote && !isSecond
        if !isSecond { name.append(byte) }
      }
      return String(decoding: name, as: UTF8.self)
    default: return nil
    }
  }

  /// Whether a token is a word without quotes, given in capitals.
  package func isWord(_ word: StaticString, at token: SQLToken) -> Bool {
    token.kind == .word && spells(word, at: token)
  }

  /// Whether a word without quotes, given in capitals, is in the text.
  package func hasWord(_ word: StaticString) -> Bool {
    tokens.contains { isWord(word, at: $0) }
  }

  /// Whether a token is an operator or a parenthesis.
  package func isSymbol(_ symbol: StaticString, at token: SQLToken) -> Bool {
    token.kind == .symbol && spells(symbol, at: token)
  }

  /// Whether a token is a text that is given in capitals.
  private func spells(_ text: StaticString, at token: SQLToken) -> Bool {
    guard token.range.count == text.utf8CodeUnitCount else { return false }
    // By its bytes: texts to compare would be made for every token of a trigger.
    return text.withUTF8Buffer { text in
      var index = 0
      while index < text.count {
        let byte = bytes[token.range.lowerBound + index]
        let isSmall = byte >= 0x61 && byte <= 0x7a
        guard (isSmall ? byte & ~0x20 : byte) == text[index] else { return false }
        index += 1
      }
      return true
    }
  }

  /// Whether the text calls a function of a name without arguments or with some.
  package func calls(_ function: String) -> Bool {
    let tokens = meaningfulTokens
    return zip(tokens, tokens.dropFirst())
      .contains { token, next in
        token.kind != .string && isSymbol("(", at: next)
          && name(of: token)?.isSameName(as: function) == true
      }
  }

  /// Whether the text is a literal as a default may be one: a name is text there, a number has a sign.
  package var isLiteral: Bool {
    var tokens = meaningfulTokens[...]
    while tokens.count > 2, let first = tokens.first, let last = tokens.last,
      isSymbol("(", at: first), isSymbol(")", at: last)
    {
      tokens = tokens.dropFirst().dropLast()
    }
    if tokens.count == 2, let first = tokens.first, tokens.last?.kind == .number,
      isSymbol("+", at: first) || isSymbol("-", at: first)
    {
      return true
    }
    guard tokens.count == 1, let token = tokens.first else { return false }
    let moments: [StaticString] = ["CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]
    return !moments.contains { isWord($0, at: token) }
  }

  /// The one name that the text is; nil if it is something else, or a word that stands for a value.
  ///
  /// As a default such a name is text: SQLite takes `DEFAULT open` for `DEFAULT 'open'`.
  package var bareWord: String? {
    let values: [StaticString] = ["NULL", "TRUE", "FALSE"]
    guard isLiteral, let token = meaningfulTokens.first, meaningfulTokens.count == 1,
      !values.contains(where: { isWord($0, at: token) }), token.kind != .string
    else { return nil }
    return name(of: token)
  }
}
