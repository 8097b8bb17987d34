extension TableSchema.Column {
  /// How SQLite stores what is put into a column.
  package enum Affinity: Sendable {
    case integer
    case text
    case blob
    case real
    case numeric
  }

  /// How the column does it, by the type that it was declared with.
  package var affinity: Affinity { Affinity(type: type) }
}

extension TableSchema {
  /// Whether a column keeps every value as it is put into it.
  package func keepsValues(in column: Column) -> Bool {
    // Elsewhere SQLite takes ANY for NUMERIC.
    column.affinity == .blob || isStrict && column.type.isSameName(as: "ANY")
  }
}

extension TableSchema.Column.Affinity {
  /// That of a column of a type: SQLite's rules, in their order.
  package init(type: String) {
    let type = type.foldedName
    func holds(_ part: String) -> Bool {
      let part = Array(part.utf8)
      return type.indices.contains { type[$0...].starts(with: part) }
    }
    if holds("int") {
      self = .integer
    } else if holds("char") || holds("clob") || holds("text") {
      self = .text
    } else if type.isEmpty || holds("blob") {
      self = .blob
    } else if holds("real") || holds("floa") || holds("doub") {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// Whether a column stores every value of a key as one of another affinity does.
  package func storesKeys(as other: Self) -> Bool {
    let whole: [Self] = [.integer, .numeric]
    return self == other || whole.contains(self) && whole.contains(other)
  }
}
