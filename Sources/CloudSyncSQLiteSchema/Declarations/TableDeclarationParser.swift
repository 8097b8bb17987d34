/// Reads a declaration by SQLite's grammar.
struct TableDeclarationParser {
  private typealias Constraint = TableDeclaration.Constraint

  private var cursor: TokenCursor

  init(_ text: SQLText) { cursor = TokenCursor(text) }

  mutating func declaration() -> TableDeclaration? {
    guard cursor.take("CREATE") else { return nil }
    _ = cursor.take("TEMP") || cursor.take("TEMPORARY")
    guard cursor.take("TABLE") else { return nil }
    if cursor.take("IF") { guard cursor.take("NOT"), cursor.take("EXISTS") else { return nil } }
    guard var name = cursor.takeName() else { return nil }
    if cursor.takeSymbol(".") {
      guard let second = cursor.takeName() else { return nil }
      name = second
    }
    let open = cursor.place
    guard cursor.takeSymbol("(") else { return nil }
    var columns: [TableDeclaration.Column] = []
    var constraints: [TableDeclaration.Constraint] = []
    repeat {
      if beginsTableConstraint {
        // SQLite does not ask for commas between the rules of a table.
        while beginsTableConstraint {
          guard let constraint = constraint(ofTable: true) else { return nil }
          constraints.append(constraint)
        }
      } else {
        guard let column = column() else { return nil }
        columns.append(column)
      }
    } while cursor.takeSymbol(",")
    let close = cursor.place
    guard cursor.takeSymbol(")") else { return nil }
    return TableDeclaration(
      text: cursor.text,
      tokens: cursor.tokens,
      nameToken: name,
      columns: columns,
      constraints: constraints,
      body: open...close
    )
  }

  // MARK: Columns

  private mutating func column() -> TableDeclaration.Column? {
    guard let name = cursor.takeName() else { return nil }
    let typeStart = cursor.place
    while !beginsColumnConstraint, cursor.takeName() != nil {}
    if cursor.place > typeStart, cursor.isSymbol("("), !cursor.skipParentheses() { return nil }
    let type = typeStart..<cursor.place
    var constraints: [TableDeclaration.Constraint] = []
    while beginsColumnConstraint {
      guard let constraint = constraint(ofTable: false) else { return nil }
      constraints.append(constraint)
    }
    return TableDeclaration.Column(
      nameToken: name,
      name: cursor.text.name(of: cursor.tokens[name]) ?? "",
      type: type,
      constraints: constraints,
      tokens: name..<cursor.place
    )
  }

  private var beginsColumnConstraint: Bool {
    if cursor.isWord("GENERATED") { return cursor.isWord("ALWAYS", after: 1) }
    let starts: [StaticString] = [
      "CONSTRAINT", "DEFAULT", "NULL", "NOT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "COLLATE",
      "AS", "DEFERRABLE",
    ]
    return starts.contains { cursor.isWord($0) }
  }

  private mutating func readColumnConstraint(into constraint: inout Constraint) -> Bool {
    if cursor.take("PRIMARY") {
      constraint.kind = .primaryKey
      guard cursor.take("KEY") else { return false }
      _ = cursor.take("ASC") || cursor.take("DESC")
      guard readConflict(into: &constraint) else { return false }
      constraint.isAutoincrement = cursor.take("AUTOINCREMENT")
      return true
    }
    if cursor.isWord("NOT"), cursor.isWord("NULL", after: 1) {
      cursor.place += 2
      constraint.kind = .notNull
      return readConflict(into: &constraint)
    }
    if cursor.take("NULL") {
      constraint.kind = .null
      return readConflict(into: &constraint)
    }
    if cursor.take("UNIQUE") {
      constraint.kind = .unique
      return readConflict(into: &constraint)
    }
    if cursor.take("CHECK") {
      constraint.kind = .check
      return cursor.skipParentheses() && readConflict(into: &constraint)
    }
    if cursor.take("DEFAULT") {
      constraint.kind = .defaultValue
      if cursor.isSymbol("(") { return cursor.skipParentheses() }
      _ = cursor.takeSymbol("+") || cursor.takeSymbol("-")
      return cursor.skipToken()
    }
    if cursor.take("COLLATE") {
      constraint.kind = .collation
      return cursor.takeName() != nil
    }
    if cursor.isWord("REFERENCES") {
      constraint.kind = .foreignKey
      return readReference(into: &constraint)
    }
    if cursor.isWord("NOT") || cursor.isWord("DEFERRABLE") {
      constraint.kind = .deferrable
      return readDeferral()
    }
    constraint.kind = .generated
    if cursor.take("GENERATED") { guard cursor.take("ALWAYS") else { return false } }
    guard cursor.take("AS"), cursor.skipParentheses() else { return false }
    _ = cursor.take("STORED") || cursor.take("VIRTUAL")
    return true
  }

  // MARK: The table's rules

  private var beginsTableConstraint: Bool {
    let starts: [StaticString] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    return starts.contains { cursor.isWord($0) }
  }

  private mutating func readTableConstraint(into constraint: inout Constraint) -> Bool {
    if cursor.take("CHECK") {
      constraint.kind = .check
      return cursor.skipParentheses() && readConflict(into: &constraint)
    }
    if cursor.take("FOREIGN") {
      constraint.kind = .foreignKey
      guard cursor.take("KEY"), let columns = takeColumns(&constraint) else { return false }
      constraint.columns = columns
      return readReference(into: &constraint)
    }
    constraint.kind = cursor.isWord("UNIQUE") ? .unique : .primaryKey
    cursor.place += 1
    if constraint.kind == .primaryKey { guard cursor.take("KEY") else { return false } }
    guard let columns = takeColumns(&constraint) else { return false }
    constraint.columns = columns
    return readConflict(into: &constraint)
  }

  // MARK: Rules and their parts

  /// A rule of a column or of the table, with its name if it has one.
  private mutating func constraint(ofTable isOfTable: Bool) -> Constraint? {
    var constraint = Constraint(kind: .bareName, tokens: cursor.place..<cursor.place)
    if cursor.take("CONSTRAINT"), cursor.takeName() == nil { return nil }
    let isNamed = cursor.place > constraint.tokens.lowerBound
    let begins = isOfTable ? beginsTableConstraint : beginsColumnConstraint
    if begins, !isNamed || !cursor.isWord("CONSTRAINT") {
      let isRead =
        isOfTable ? readTableConstraint(into: &constraint) : readColumnConstraint(into: &constraint)
      guard isRead else { return nil }
    }
    constraint.tokens = constraint.tokens.lowerBound..<cursor.place
    return constraint
  }

  private mutating func readConflict(into constraint: inout Constraint) -> Bool {
    guard cursor.isWord("ON"), cursor.isWord("CONFLICT", after: 1) else { return true }
    constraint.conflict = cursor.place + 2
    cursor.place += 2
    return cursor.skipToken()
  }

  private mutating func readReference(into constraint: inout Constraint) -> Bool {
    guard cursor.take("REFERENCES"), let table = cursor.takeName() else { return false }
    constraint.table = table
    if cursor.isSymbol("(") {
      guard let columns = takeColumns(&constraint) else { return false }
      constraint.referencedColumns = columns
    }
    while true {
      if cursor.take("ON") {
        guard cursor.take("DELETE") || cursor.take("UPDATE") || cursor.take("INSERT") else {
          return false
        }
        let isOfTwoWords = cursor.isWord("SET") || cursor.isWord("NO")
        guard cursor.skipToken(), !isOfTwoWords || cursor.skipToken() else { return false }
      } else if cursor.take("MATCH") {
        guard cursor.takeName() != nil else { return false }
      } else {
        break
      }
    }
    let isDeferral =
      cursor.isWord("DEFERRABLE") || cursor.isWord("NOT") && cursor.isWord("DEFERRABLE", after: 1)
    return !isDeferral || readDeferral()
  }

  private mutating func readDeferral() -> Bool {
    _ = cursor.take("NOT")
    guard cursor.take("DEFERRABLE") else { return false }
    guard cursor.take("INITIALLY") else { return true }
    return cursor.take("DEFERRED") || cursor.take("IMMEDIATE")
  }

  /// The names in parentheses that stand alone or before a collation, an order, AUTOINCREMENT.
  private mutating func takeColumns(_ constraint: inout Constraint) -> [Int]? {
    let start = cursor.place
    guard cursor.isSymbol("("), cursor.skipParentheses() else { return nil }
    var columns: [Int] = []
    var depth = 0
    for index in start..<cursor.place {
      let token = cursor.tokens[index]
      if cursor.text.isSymbol("(", at: token) { depth += 1 }
      if cursor.text.isSymbol(")", at: token) { depth -= 1 }
      guard depth == 1 else { continue }
      if cursor.text.isSymbol("(", at: token) || cursor.text.isSymbol(",", at: token),
        cursor.text.name(of: cursor.tokens[index + 1]) != nil,
        endsColumn(index + 2)
      {
        columns.append(index + 1)
      }
      if cursor.text.isWord("AUTOINCREMENT", at: token) { constraint.isAutoincrement = true }
    }
    return columns
  }

  private func endsColumn(_ index: Int) -> Bool {
    let token = cursor.tokens[index]
    let words: [StaticString] = ["COLLATE", "ASC", "DESC", "AUTOINCREMENT"]
    return cursor.text.isSymbol(",", at: token) || cursor.text.isSymbol(")", at: token)
      || words.contains { cursor.text.isWord($0, at: token) }
  }
}
