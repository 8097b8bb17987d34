/// The lines of a function, an initialiser, an accessor or a closure with a name.
struct FunctionSpan: Sendable, Equatable {
  var firstLine: Int
  var lastLine: Int
  var lineCount: Int { lastLine - firstLine + 1 }
}

extension SourceFile {
  /// The functions of the file, in the order in which they end.
  ///
  /// A keyword announces a body, and the next brace at its own depth of parentheses opens it. A
  /// requirement of a protocol has no body: the next announcement or the end of the scope takes its
  /// place. A variable must open its brace on the line on which its declaration ends.
  var functions: [FunctionSpan] {
    var scanner = FunctionScanner()
    for token in tokens { scanner.read(token) }
    return scanner.functions
  }
}

/// Follows braces and parentheses through a file.
private struct FunctionScanner {
  private(set) var functions: [FunctionSpan] = []
  /// For each open brace the first line of the function whose body it opens.
  private var braces: [Int?] = []
  private var depth = 0
  private var announced: (line: Int, depth: Int, isVariable: Bool)?
  private var previous: Token?

  mutating func read(_ token: Token) {
    forgetIfOver(at: token)
    switch token.text {
    case "(", "[": depth += 1
    case ")", "]": depth -= 1
    case "{":
      let isBody = announced?.depth == depth
      braces.append(isBody ? announced?.line : nil)
      if isBody { announced = nil }
    case "}":
      if let first = braces.popLast() ?? nil {
        functions.append(FunctionSpan(firstLine: first, lastLine: token.line))
      }
    case "func", "init", "deinit", "subscript": announce(token, isVariable: false)
    case "var", "let": announce(token, isVariable: true)
    default: break
    }
    previous = token
  }

  private mutating func announce(_ token: Token, isVariable: Bool) {
    guard previous?.text != "." else { return }
    announced = (token.line, depth, isVariable)
  }

  /// Drops an announcement that turned out to have no body.
  private mutating func forgetIfOver(at token: Token) {
    guard let announced else { return }
    let isLevel = depth == announced.depth
    let leavesScope = token.text == "}" && isLevel
    let endsLine =
      announced.isVariable && isLevel && (token.line != previous?.line || token.text == ";")
    if leavesScope || endsLine || depth < announced.depth { self.announced = nil }
  }
}
