/// Changes to be made in a declaration, all by the places of the old text.
struct DeclarationEdits {
  private let declaration: TableDeclaration
  private var edits: [(range: Range<Int>, text: String)] = []

  init(_ declaration: TableDeclaration) { self.declaration = declaration }

  var isEmpty: Bool { edits.isEmpty }

  /// Puts text in the place of some tokens and of what is between them.
  mutating func replace(_ tokens: Range<Int>, with text: String) {
    edits.append((declaration.range(tokens), text))
  }

  /// Puts text behind a token.
  mutating func insert(_ text: String, after token: Int) {
    let end = declaration.tokens[token].range.upperBound
    edits.append((end..<end, text))
  }

  /// Takes tokens away, with the space before them; comments stay.
  mutating func remove(_ tokens: Range<Int>) {
    guard !tokens.isEmpty else { return }
    let range = declaration.range(tokens)
    let all = declaration.text.tokens
    guard var index = all.firstIndex(where: { $0.range.lowerBound == range.lowerBound }) else {
      return
    }
    if index > 0, all[index - 1].kind == .space { index -= 1 }
    while index < all.count, all[index].range.upperBound <= range.upperBound {
      // The line of a comment must end.
      let endsComment = all[index].kind == .space && index > 0 && all[index - 1].kind == .comment
      if all[index].kind != .comment && !endsComment { edits.append((all[index].range, "")) }
      index += 1
    }
  }

  /// Takes rules of the table away, with the commas that they need no more.
  mutating func removeConstraints(where condition: (TableDeclaration.Constraint) -> Bool) {
    var group: [TableDeclaration.Constraint] = []
    for (index, constraint) in declaration.constraints.enumerated() {
      group.append(constraint)
      let next = index + 1
      if next < declaration.constraints.count,
        declaration.constraints[next].tokens.lowerBound == constraint.tokens.upperBound
      {
        continue
      }
      let start = group[0].tokens.lowerBound
      if group.allSatisfy(condition) {
        // A comma precedes it: a table has a column first.
        remove(start - 1..<constraint.tokens.upperBound)
      } else {
        for member in group where condition(member) { remove(member.tokens) }
      }
      group.removeAll()
    }
  }

  /// Takes the UNIQUE rules away that made some keys.
  mutating func removeUniqueConstraints(of uniqueKeys: [TableSchema.UniqueKey]) {
    let keys = uniqueKeys.filter(\.isConstraint).map { $0.columns.map { $0 ?? "" } }
    func made(_ columns: [String]) -> Bool {
      keys.contains { key in
        key.count == columns.count && zip(key, columns).allSatisfy { $0.isSameName(as: $1) }
      }
    }
    for column in declaration.columns where made([column.name]) {
      for constraint in column.constraints where constraint.kind == .unique {
        remove(constraint.tokens)
      }
    }
    let declaration = declaration
    removeConstraints { $0.kind == .unique && made($0.columns.map(declaration.name)) }
  }

  /// The text with all changes made.
  func result() -> String {
    var bytes: [UInt8] = []
    var place = 0
    // At one place text is put in before what follows is taken away, in the order of the calls.
    let ordered = edits.enumerated()
      .sorted {
        ($0.element.range.lowerBound, $0.element.range.upperBound, $0.offset)
          < ($1.element.range.lowerBound, $1.element.range.upperBound, $1.offset)
      }
    for (_, edit) in ordered where edit.range.lowerBound >= place {
      bytes += declaration.text.bytes[place..<edit.range.lowerBound]
      bytes += Array(edit.text.utf8)
      place = edit.range.upperBound
    }
    bytes += declaration.text.bytes[place...]
    return String(decoding: bytes, as: UTF8.self)
  }
}
