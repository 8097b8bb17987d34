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
  package var affinity: Affinity {
    let type = type.foldedName
    func holds(_ part: String) -> Bool {
      let part = Array(part.utf8)
      return type.indices.contains { type[$0...].starts(with: part) }
    }
    if holds("int") { return .integer }
    if holds("char") || holds("clob") || holds("text") { return .text }
    if type.isEmpty || holds("blob") { return .blob }
    if holds("real") || holds("floa") || holds("doub") { return .real }
    return .numeric
  }
}
