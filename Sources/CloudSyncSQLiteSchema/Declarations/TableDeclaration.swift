/// What the text of CREATE TABLE says, with the places where it says so.
///
/// Places are indexes into ``tokens``.
package struct TableDeclaration: Sendable, Hashable {
  /// A rule of a column or of the table.
  package struct Constraint: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      case primaryKey
      case notNull
      case null
      case unique
      case check
      case defaultValue
      case collation
      case foreignKey
      case generated
      case deferrable
      /// `CONSTRAINT name` with nothing behind it.
      case bareName
    }

    package var kind: Kind
    /// All of it, from its name if it has one.
    package var tokens: Range<Int>
    /// The word behind ON CONFLICT.
    package var conflict: Int?
    /// The names in the parentheses of a key of the table; expressions are left out.
    package var columns: [Int] = []
    /// The table that a foreign key names.
    package var table: Int?
    /// The columns that a foreign key names.
    package var referencedColumns: [Int] = []
    package var isAutoincrement = false
  }

  /// A column.
  package struct Column: Sendable, Hashable {
    package var nameToken: Int
    package var name: String
    /// Its type; empty if it has none.
    package var type: Range<Int>
    package var constraints: [Constraint]
    /// All of it, without commas.
    package var tokens: Range<Int>

    package func constraint(_ kind: Constraint.Kind) -> Constraint? {
      constraints.last { $0.kind == kind }
    }
  }

  package let text: SQLText
  /// The tokens that count: all but spaces and comments.
  package let tokens: [SQLToken]
  package let nameToken: Int
  package let columns: [Column]
  /// The rules of the table.
  package let constraints: [Constraint]
  /// The parentheses around the columns.
  package let body: ClosedRange<Int>
}

extension TableDeclaration {
  /// Reads a declaration; nil if it is none that SQLite would take.
  package init?(_ sql: String) {
    var parser = TableDeclarationParser(SQLText(sql))
    guard let declaration = parser.declaration() else { return nil }
    self = declaration
  }

  package func column(named name: String) -> Column? {
    columns.first { $0.name.isSameName(as: name) }
  }

  /// The name that a token means.
  package func name(_ token: Int) -> String { text.name(of: tokens[token]) ?? "" }

  /// Where some tokens lie in the text, with all that is between them.
  package func range(_ tokens: Range<Int>) -> Range<Int> {
    guard let last = tokens.last else {
      let end = tokens.lowerBound == 0 ? 0 : self.tokens[tokens.lowerBound - 1].range.upperBound
      return end..<end
    }
    return self.tokens[tokens.lowerBound].range.lowerBound..<self.tokens[last].range.upperBound
  }

  /// Whether NULL in a column means its default.
  package func replacesNull(_ column: String) -> Bool {
    guard let conflict = self.column(named: column)?.constraint(.notNull)?.conflict else {
      return false
    }
    return text.isWord("REPLACE", at: tokens[conflict])
  }

  /// Whether SQLite remembers the greatest key that the table ever had.
  var isAutoincrement: Bool {
    constraints.contains(where: \.isAutoincrement)
      || columns.contains { $0.constraints.contains(where: \.isAutoincrement) }
  }
}

extension TableSchema {
  /// Whether SQLite gives the key, and remembers the greatest one that the table ever had.
  package var isCounted: Bool {
    hasIntegerKey && TableDeclaration(sql)?.isAutoincrement == true
  }
}
