/// The code that a declaration at the top level of a file adds to a type.
struct TypePart: Sendable, Equatable {
  /// The name of the type; of a nested type that of the outermost.
  var name: String
  /// Lines with code between its braces, those of comments and empty ones left out.
  var codeLineCount: Int
}

/// The parameters of a function.
struct FunctionParameters: Sendable, Equatable {
  var name: String
  var line: Int
  var count: Int
  /// How many of them are passed without a label.
  var unlabelledCount: Int
}

extension SourceFile {
  private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "actor"]

  /// The names of the types that the file declares at its top level.
  var declaredTypes: [String] {
    var names: [String] = []
    visitTopLevel { index in
      let isDeclaration =
        Self.kinds.contains(tokens[index].text) || tokens[index].text == "typealias"
      if isDeclaration, index + 1 < tokens.count { names.append(tokens[index + 1].text) }
    }
    return names
  }

  /// What the file's declarations and extensions at its top level add to their types.
  var typeParts: [TypePart] {
    var parts: [TypePart] = []
    visitTopLevel { index in
      let isType = Self.kinds.contains(tokens[index].text) || tokens[index].text == "extension"
      guard isType, index + 1 < tokens.count,
        let open = tokens[index...].firstIndex(where: { $0.text == "{" })
      else { return }
      let body = tokens[open..<closing(open)]
      let lines = Set(body.map(\.line)).count
      parts.append(TypePart(name: tokens[index + 1].text, codeLineCount: lines))
    }
    return parts
  }

  /// The functions of the file with their parameters; initialisers and subscripts are left out.
  var functionParameters: [FunctionParameters] {
    positions(of: "func").filter { $0 + 1 < tokens.count }
      .compactMap { index in
        guard let open = tokens[index...].firstIndex(where: { $0.text == "(" }) else { return nil }
        let name = tokens[index + 1]
        // An operator that begins with a parenthesis does not exist, so this is the list.
        let parameters = parameters(from: open + 1, to: closing(open))
        return FunctionParameters(
          name: name.text,
          line: name.line,
          count: parameters.count,
          unlabelledCount: parameters.count { $0 == "_" }
        )
      }
  }

  /// Calls a closure with the place of every token that is inside of no braces.
  private func visitTopLevel(_ body: (Int) -> Void) {
    var depth = 0
    for index in tokens.indices {
      switch tokens[index].text {
      case "{": depth += 1
      case "}": depth -= 1
      default: if depth == 0 { body(index) }
      }
    }
  }

  /// The place of the bracket that closes another one, or the end of the file.
  private func closing(_ open: Int) -> Int {
    var depth = 0
    for index in tokens[open...].indices {
      switch tokens[index].text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      default: break
      }
      if depth == 0 { return index }
    }
    return tokens.endIndex
  }

  /// The first word of each parameter of a list, attributes left out.
  private func parameters(from start: Int, to end: Int) -> [String] {
    var words: [String] = []
    var isFirst = true
    var angles = 0
    var index = start
    while index < end {
      let token = tokens[index]
      switch token.text {
      case "(", "[", "{": index = closing(index)
      case "<": angles += 1
      case ">" where tokens[index - 1].text != "-": angles -= 1
      case "," where angles == 0: isFirst = true
      case "@": index += 1
      case let text where isFirst && token.isWord:
        words.append(text)
        isFirst = false
      default: break
      }
      index += 1
    }
    return words
  }
}
