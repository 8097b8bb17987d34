/// Reads a declaration by SQLite's grammar.
struct TableDeclarationParser {
  private typealias Constraint = TableDeclaration.Constraint

  private let text: SQLText
  private let tokens: [SQLToken]
  private var place = 0

  init(_ text: SQLText) {
    self.text = text
    tokens = text.meaningfulTokens
  }

  mutating func declaration() -> TableDeclaration? {
    guard take("CREATE") else { return nil }
    _ = take("TEMP") || take("TEMPORARY")
    guard take("TABLE") else { return nil }
    if take("IF") { guard take("NOT"), take("EXISTS") else { return nil } }
    guard var name = takeName() else { return nil }
    if takeSymbol(".") {
      guard let second = takeName() else { return nil }
      name = second
    }
    let open = place
    guard takeSymbol("(") else { return nil }
    var columns: [TableDeclaration.Column] = []
    var constraints: [TableDeclaration.Constraint] = []
    repeat {
      if beginsTableConstraint {
        // SQLite does not ask for commas between the rules of a table.
        while beginsTableConstraint {
          guard let constraint = tableConstraint() else { return nil }
          constraints.append(constraint)
        }
      } else {
        guard let column = column() else { return nil }
        columns.append(column)
      }
    } while takeSymbol(",")
    let close = place
    guard takeSymbol(")") else { return nil }
    return TableDeclaration(
      text: text,
      tokens: tokens,
      nameToken: name,
      columns: columns,
      constraints: constraints,
      body: open...close
    )
  }

  // MARK: Columns

  private mutating func column() -> TableDeclaration.Column? {
    guard let name = takeName() else { return nil }
    let typeStart = place
    while !isAtEnd, text.name(of: tokens[place]) != nil, !beginsColumnConstraint { place += 1 }
    if place > typeStart, isSymbol("(") { guard skipParentheses() else { return nil } }
    let type = typeStart..<place
    var constraints: [TableDeclaration.Constraint] = []
    while beginsColumnConstraint {
      guard let constraint = columnConstraint() else { return nil }
      constraints.append(constraint)
    }
    return TableDeclaration.Column(
      nameToken: name,
      name: text.name(of: tokens[name]) ?? "",
      type: type,
      constraints: constraints,
      tokens: name..<place
    )
  }

  private var beginsColumnConstraint: Bool {
    if isWord("GENERATED") { return isWord("ALWAYS", after: 1) }
    let starts: [StaticString] = [
      "CONSTRAINT", "DEFAULT", "NULL", "NOT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "COLLATE",
      "AS", "DEFERRABLE",
    ]
    return starts.contains { isWord($0) }
  }

  private mutating func columnConstraint() -> TableDeclaration.Constraint? {
    let start = place
    if take("CONSTRAINT") {
      guard takeName() != nil else { return nil }
      if !beginsColumnConstraint || isWord("CONSTRAINT") {
        return Constraint(kind: .bareName, tokens: start..<place)
      }
    }
    var constraint = Constraint(kind: .null, tokens: start..<start)
    guard readColumnConstraint(into: &constraint) else { return nil }
    constraint.tokens = start..<place
    return constraint
  }

  private mutating func readColumnConstraint(into constraint: inout Constraint) -> Bool {
    if take("PRIMARY") {
      constraint.kind = .primaryKey
      guard take("KEY") else { return false }
      _ = take("ASC") || take("DESC")
      guard readConflict(into: &constraint) else { return false }
      constraint.isAutoincrement = take("AUTOINCREMENT")
      return true
    }
    if isWord("NOT"), isWord("NULL", after: 1) {
      place += 2
      constraint.kind = .notNull
      return readConflict(into: &constraint)
    }
    if take("NULL") { return readConflict(into: &constraint) }
    if take("UNIQUE") {
      constraint.kind = .unique
      return readConflict(into: &constraint)
    }
    if take("CHECK") {
      constraint.kind = .check
      return skipParentheses() && readConflict(into: &constraint)
    }
    if take("DEFAULT") {
      constraint.kind = .defaultValue
      if isSymbol("(") { return skipParentheses() }
      _ = takeSymbol("+") || takeSymbol("-")
      return skipToken()
    }
    if take("COLLATE") {
      constraint.kind = .collation
      return takeName() != nil
    }
    if isWord("REFERENCES") {
      constraint.kind = .foreignKey
      return readReference(into: &constraint)
    }
    if isWord("NOT") || isWord("DEFERRABLE") {
      constraint.kind = .deferrable
      return readDeferral()
    }
    constraint.kind = .generated
    if take("GENERATED") { guard take("ALWAYS") else { return false } }
    guard take("AS"), skipParentheses() else { return false }
    _ = take("STORED") || take("VIRTUAL")
    return true
  }

  // MARK: The table's rules

  private var beginsTableConstraint: Bool {
    let starts: [StaticString] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    return starts.contains { isWord($0) }
  }

  private mutating func tableConstraint() -> TableDeclaration.Constraint? {
    let start = place
    if take("CONSTRAINT") {
      guard takeName() != nil else { return nil }
      if !beginsTableConstraint || isWord("CONSTRAINT") {
        return Constraint(kind: .bareName, tokens: start..<place)
      }
    }
    var constraint = Constraint(kind: .check, tokens: start..<start)
    guard readTableConstraint(into: &constraint) else { return nil }
    constraint.tokens = start..<place
    return constraint
  }

  private mutating func readTableConstraint(into constraint: inout Constraint) -> Bool {
    if take("CHECK") { return skipParentheses() && readConflict(into: &constraint) }
    if take("FOREIGN") {
      constraint.kind = .foreignKey
      guard take("KEY"), let columns = takeColumns(&constraint) else { return false }
      constraint.columns = columns
      return readReference(into: &constraint)
    }
    constraint.kind = isWord("UNIQUE") ? .unique : .primaryKey
    place += 1
    if constraint.kind == .primaryKey { guard take("KEY") else { return false } }
    guard let columns = takeColumns(&constraint) else { return false }
    constraint.columns = columns
    return readConflict(into: &constraint)
  }

  // MARK: Parts of rules

  private mutating func readConflict(into constraint: inout Constraint) -> Bool {
    guard isWord("ON"), isWord("CONFLICT", after: 1) else { return true }
    constraint.conflict = place + 2
    place += 2
    return skipToken()
  }

  private mutating func readReference(into constraint: inout Constraint) -> Bool {
    guard take("REFERENCES"), let table = takeName() else { return false }
    constraint.table = table
    if isSymbol("(") {
      guard let columns = takeColumns(&constraint) else { return false }
      constraint.referencedColumns = columns
    }
    while true {
      if take("ON") {
        guard take("DELETE") || take("UPDATE") || take("INSERT") else { return false }
        let isOfTwoWords = isWord("SET") || isWord("NO")
        guard skipToken(), !isOfTwoWords || skipToken() else { return false }
      } else if take("MATCH") {
        guard takeName() != nil else { return false }
      } else {
        break
      }
    }
    let isDeferral = isWord("DEFERRABLE") || isWord("NOT") && isWord("DEFERRABLE", after: 1)
    return !isDeferral || readDeferral()
  }

  private mutating func readDeferral() -> Bool {
    _ = take("NOT")
    guard take("DEFERRABLE") else { return false }
    guard take("INITIALLY") else { return true }
    return take("DEFERRED") || take("IMMEDIATE")
  }

  /// The names in parentheses that stand alone or before a collation, an order, AUTOINCREMENT.
  private mutating func takeColumns(_ constraint: inout Constraint) -> [Int]? {
    let start = place
    guard isSymbol("("), skipParentheses() else { return nil }
    var columns: [Int] = []
    var depth = 0
    for index in start..<place {
      let token = tokens[index]
      if text.isSymbol(token, "(") { depth += 1 }
      if text.isSymbol(token, ")") { depth -= 1 }
      guard depth == 1 else { continue }
      if text.isSymbol(token, "(") || text.isSymbol(token, ","),
        text.name(of: tokens[index + 1]) != nil,
        endsColumn(index + 2)
      {
        columns.append(index + 1)
      }
      if text.isWord(token, "AUTOINCREMENT") { constraint.isAutoincrement = true }
    }
    return columns
  }

  private func endsColumn(_ index: Int) -> Bool {
    let token = tokens[index]
    let words: [StaticString] = ["COLLATE", "ASC", "DESC", "AUTOINCREMENT"]
    return text.isSymbol(token, ",") || text.isSymbol(token, ")")
      || words.contains { text.isWord(token, $0) }
  }

  // MARK: Tokens

  private var isAtEnd: Bool { place >= tokens.count }

  private func isWord(_ word: StaticString, after offset: Int = 0) -> Bool {
    place + offset < tokens.count && text.isWord(tokens[place + offset], word)
  }

  private func isSymbol(_ symbol: StaticString) -> Bool {
    !isAtEnd && text.isSymbol(tokens[place], symbol)
  }

  private mutating func skipToken() -> Bool {
    guard !isAtEnd else { return false }
    place += 1
    return true
  }

  private mutating func take(_ word: StaticString) -> Bool { isWord(word) && skipToken() }

  private mutating func takeSymbol(_ symbol: StaticString) -> Bool {
    isSymbol(symbol) && skipToken()
  }

  private mutating func takeName() -> Int? {
    guard !isAtEnd, text.name(of: tokens[place]) != nil else { return nil }
    place += 1
    return place - 1
  }

  /// Goes behind the parenthesis that closes the one here.
  private mutating func skipParentheses() -> Bool {
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
