/// Goes through the tokens of a text that count, one by one.
struct TokenCursor {
  let text: SQLText
  let tokens: [SQLToken]
  /// The token that is next.
  var place = 0

  init(_ text: SQLText) {
    self.text = text
    tokens = text.meaningfulTokens
  }

  var isAtEnd: Bool { place >= tokens.count }

  func isWord(_ word: StaticString, after offset: Int = 0) -> Bool {
    place + offset < tokens.count && text.isWord(word, at: tokens[place + offset])
  }

  func isSymbol(_ symbol: StaticString) -> Bool {
    !isAtEnd && text.isSymbol(symbol, at: tokens[place])
  }

  mutating func skipToken() -> Bool {
    guard !isAtEnd else { return false }
    place += 1
    return true
  }

  mutating func take(_ word: StaticString) -> Bool { isWord(word) && skipToken() }

  mutating func takeSymbol(_ symbol: StaticString) -> Bool {
    isSymbol(symbol) && skipToken()
  }

  mutating func takeName() -> Int? {
    guard !isAtEnd, text.name(of: tokens[place]) != nil else { return nil }
    place += 1
    return place - 1
  }

  /// Goes behind the parenthesis that closes the one here.
  mutating func skipParentheses() -> Bool {
    guard isSymbol("(") else { return false }
    var depth = 0
    repeat {
      if isSymbol("(") { depth += 1 }
      if isSymbol(")") { depth -= 1 }
      place += 1
    } while depth > 0 && !isAtEnd
    return depth == 0
  }
}
