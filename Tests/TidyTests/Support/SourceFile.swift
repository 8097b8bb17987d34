/// A Swift file, read as tokens and comments.
struct SourceFile: Sendable {
  /// The path from the root of the package.
  let path: String
  let lineCount: Int
  let tokens: [Token]
  let comments: [Comment]
  /// Where each text stands among the tokens: most of what is looked for is in few files.
  private let indices: [String: [Int]]

  init(path: String, source: String) {
    self.path = path
    let tokenizer = Tokenizer(source)
    tokens = tokenizer.tokens
    comments = tokenizer.comments
    var indices: [String: [Int]] = [:]
    for (index, token) in tokenizer.tokens.enumerated() {
      indices[token.text, default: []].append(index)
    }
    self.indices = indices
    lineCount = source.isEmpty || source.hasSuffix("\n") ? tokenizer.line - 1 : tokenizer.line
  }

  /// The texts of its tokens, each once.
  var texts: some Sequence<String> { indices.keys }

  var isTest: Bool { path.hasPrefix("Tests/") || path.contains("/Tests/") }

  /// The folder of the file, without a slash at its end.
  var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

  /// The first tokens of all places where these texts stand one after the other.
  func places(of texts: [String]) -> [Token] {
    guard let first = texts.first, let indices = indices[first] else { return [] }
    return indices.filter { tokens[$0...].prefix(texts.count).map(\.text) == texts }
      .map { tokens[$0] }
  }

  /// Where a text stands among the tokens.
  func positions(of text: String) -> [Int] { indices[text] ?? [] }

  /// The names of the functions that it declares.
  var functionNames: [String] {
    positions(of: "func").filter { $0 + 1 < tokens.count }.map { tokens[$0 + 1].text }
  }

  /// Whether a comment on this line, the one before or the one after gives a reason.
  func givesReason(near line: Int) -> Bool {
    comments.contains { abs($0.line - line) <= 1 && $0.text.lowercased().contains("because") }
  }

  func finding(_ line: Int, _ message: String) -> Finding {
    Finding(place: "\(path):\(line)", message: message)
  }
}
