/// A Swift file, read as tokens and comments.
struct SourceFile: Sendable {
  /// The path from the root of the package.
  let path: String
  let lineCount: Int
  let tokens: [Token]
  let comments: [Comment]
  /// The texts of the tokens, each once: most of what is looked for is in few files.
  private let texts: Set<String>

  init(path: String, source: String) {
    self.path = path
    let tokenizer = Tokenizer(source)
    tokens = tokenizer.tokens
    comments = tokenizer.comments
    var texts: Set<String> = []
    for token in tokenizer.tokens { texts.insert(token.text) }
    self.texts = texts
    lineCount = source.isEmpty || source.hasSuffix("\n") ? tokenizer.line - 1 : tokenizer.line
  }

  var isTest: Bool { path.hasPrefix("Tests/") || path.contains("/Tests/") }

  /// The folder of the file, without a slash at its end.
  var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

  /// The first tokens of all places where these texts stand one after the other.
  func places(of texts: [String]) -> [Token] {
    guard let first = texts.first, self.texts.contains(first) else { return [] }
    return tokens.indices
      .filter { index in
        tokens[index].text == first
          && tokens[index...].prefix(texts.count).map(\.text) == texts
      }
      .map { tokens[$0] }
  }

  /// Whether a comment on this line, the one before or the one after gives a reason.
  func givesReason(near line: Int) -> Bool {
    comments.contains { abs($0.line - line) <= 1 && $0.text.lowercased().contains("because") }
  }

  func finding(_ line: Int, _ message: String) -> Finding {
    Finding(place: "\(path):\(line)", message: message)
  }
}
