/// What the text of CREATE INDEX says.
struct IndexDeclaration {
  /// What is indexed, without the order.
  let terms: [String]
  /// Which rows are; nil if all.
  let predicate: String?
  /// Every name in both.
  let names: [String]

  init?(_ sql: String) {
    let text = SQLText(sql)
    let tokens = text.meaningfulTokens
    guard let on = tokens.firstIndex(where: { text.isWord($0, "ON") }),
      let open = tokens[on...].firstIndex(where: { text.isSymbol($0, "(") })
    else { return nil }
    var terms: [String] = []
    var depth = 0
    var start = open + 1
    var end = open
    for place in tokens.indices[open...] {
      if text.isSymbol(tokens[place], "(") { depth += 1 }
      if text.isSymbol(tokens[place], ")") { depth -= 1 }
      let ends = depth == 0 || depth == 1 && text.isSymbol(tokens[place], ",")
      guard ends else { continue }
      terms.append(Self.term(text, tokens[start..<place]))
      start = place + 1
      end = place
      if depth == 0 { break }
    }
    guard depth == 0, end > open else { return nil }
    self.terms = terms
    let rest = tokens[(end + 1)...]
    if let first = rest.first {
      guard text.isWord(first, "WHERE"), let last = rest.last, rest.count > 1 else { return nil }
      predicate = text.text(rest[rest.startIndex + 1].range.lowerBound..<last.range.upperBound)
    } else {
      predicate = nil
    }
    names = tokens[open...].filter { $0.kind != .string }.compactMap { text.name(of: $0) }
  }

  private static func term(_ text: SQLText, _ tokens: ArraySlice<SQLToken>) -> String {
    var tokens = tokens
    if let last = tokens.last, text.isWord(last, "ASC") || text.isWord(last, "DESC") {
      tokens.removeLast()
    }
    guard let first = tokens.first, let last = tokens.last else { return "" }
    return text.text(first.range.lowerBound..<last.range.upperBound)
  }
}
