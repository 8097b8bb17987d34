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
    guard let on = tokens.firstIndex(where: { text.isWord("ON", at: $0) }),
      let open = tokens[on...].firstIndex(where: { text.isSymbol("(", at: $0) })
    else { return nil }
    var terms: [String] = []
    var depth = 0
    var start = open + 1
    var end = open
    for place in tokens.indices[open...] {
      if text.isSymbol("(", at: tokens[place]) { depth += 1 }
      if text.isSymbol(")", at: tokens[place]) { depth -= 1 }
      let ends = depth == 0 || depth == 1 && text.isSymbol(",", at: tokens[place])
      guard ends else { continue }
      terms.append(Self.term(tokens[start..<place], in: text))
      start = place + 1
      end = place
      if depth == 0 { break }
    }
    guard depth == 0, end > open else { return nil }
    self.terms = terms
    let rest = tokens[(end + 1)...]
    if let first = rest.first {
      guard text.isWord("WHERE", at: first), let last = rest.last, rest.count > 1 else {
        return nil
      }
      predicate = text.text(rest[rest.startIndex + 1].range.lowerBound..<last.range.upperBound)
    } else {
      predicate = nil
    }
    names = tokens[open...].filter { $0.kind != .string }.compactMap { text.name(of: $0) }
  }

  private static func term(_ tokens: ArraySlice<SQLToken>, in text: SQLText) -> String {
    var tokens = tokens
    if let last = tokens.last, text.isWord("ASC", at: last) || text.isWord("DESC", at: last) {
      tokens.removeLast()
    }
    guard let first = tokens.first, let last = tokens.last else { return "" }
    return text.text(first.range.lowerBound..<last.range.upperBound)
  }
}
